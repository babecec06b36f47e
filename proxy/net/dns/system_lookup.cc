#include "proxy/net/dns/system_lookup.h"

#include <ares.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/net/poll.h"

namespace sluice::net {

struct SystemLookup::LookupSocket final : PollSink {
  LookupSocket(SystemLookup& owner, int descriptor)
      : lookup(owner), fd(descriptor), poll(owner.worker_, descriptor, *this) {}
  // The socket may be destroyed in there: no code may follow the call.
  void onReady(bool readable, bool writable) override {
    lookup.process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  SystemLookup& lookup;
  int fd;
  Poll poll;
};

SystemLookup::SystemLookup(Worker& worker, std::string name, base::Duration timeout, std::function<void()> done,
                           const Addresses& servers)
    : worker_(worker), name_(std::move(name)), deadline_(worker.now() + timeout), done_(std::move(done)) {
  if (const int status = open(servers); status != ARES_SUCCESS) {
    take(status, nullptr);
    return;
  }
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const auto answered = [](void* self, int status, int, ares_addrinfo* info) {
    const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owned(info, &ares_freeaddrinfo);
    if (status != ARES_EDESTRUCTION) static_cast<SystemLookup*>(self)->take(status, info);
  };
  ares_getaddrinfo(channel_, name_.c_str(), nullptr, &hints, answered, this);
  proceed();
}

SystemLookup::~SystemLookup() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

int SystemLookup::open(const Addresses& servers) {
  ares_options options{};
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, ares_socket_t fd, int readable, int writable) {
    static_cast<SystemLookup*>(self)->socketState(fd, readable != 0, writable != 0);
  };
  if (const int status = ares_init_options(&channel_, &options, ARES_OPT_SOCK_STATE_CB); status != ARES_SUCCESS) {
    return status;
  }
  std::string list;
  for (const Address& server : servers) list += (list.empty() ? "" : ",") + server.toString();
  return list.empty() ? ARES_SUCCESS : ares_set_servers_ports_csv(channel_, list.c_str());
}

// May be called from within c-ares, and only records.
void SystemLookup::take(int status, const ares_addrinfo* info) {
  if (answer_) return;
  Addresses addresses;
  if (status == ARES_SUCCESS && info != nullptr) {
    for (const auto* node = info->nodes; node != nullptr; node = node->ai_next) {
      const Address address = Address::fromSockaddr(node->ai_addr).withPort(0);
      if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
    }
  }
  if (!addresses.empty()) {
    answer_.emplace(std::move(addresses));
  } else if (status == ARES_ETIMEOUT) {
    fail(base::ErrorType::kDnsTimeout, "no name server answers");
  } else {
    fail(base::ErrorType::kDnsError, ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status));
  }
}

void SystemLookup::fail(base::ErrorType type, const char* reason) {
  answer_.emplace(base::Error::upstream(type, name_ + ": " + reason));
}

void SystemLookup::socketState(int fd, bool readable, bool writable) {
  const auto known = std::find_if(sockets_.begin(), sockets_.end(), [fd](const auto& one) { return one->fd == fd; });
  if (!readable && !writable) {
    if (known != sockets_.end()) sockets_.erase(known);
    return;
  }
  LookupSocket& socket =
      known != sockets_.end() ? **known : *sockets_.emplace_back(std::make_unique<LookupSocket>(*this, fd));
  socket.poll.watch(readable, writable);
}

void SystemLookup::process(int readable, int writable) {
  if (answer_) return;
  ares_process_fd(channel_, readable, writable);
  proceed();
  if (answer_) done_();
}

/// Sets the time at which c-ares wants to ask another server, unless the whole lookup ends before.
void SystemLookup::proceed() {
  if (answer_) return cancel();
  timeval room{};
  base::MonotonicTime next = deadline_;
  if (const timeval* wait = ares_timeout(channel_, nullptr, &room)) {
    next =
        std::min(next, worker_.now() + std::chrono::seconds(wait->tv_sec) + std::chrono::microseconds(wait->tv_usec));
  }
  worker_.timers().set(*this, next);
}

void SystemLookup::onTimer() {
  if (worker_.now() < deadline_) return process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  fail(base::ErrorType::kDnsTimeout, "no name server answers");
  ares_destroy(std::exchange(channel_, nullptr));
  done_();
}

}  // namespace sluice::net
