#include "proxy/net/dns/dns_try.h"

#include <ares.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::net {
namespace {

const char* reasonOf(int status) {
  if (status == ARES_SUCCESS) return ares_strerror(ARES_ENODATA);
  // c-ares gives this status whether the server could not be reached or answered SERVFAIL or REFUSED.
  if (status == ARES_ECONNREFUSED) return "no name server has an answer";
  return ares_strerror(status);
}

ares_addr_port_node toNode(const Address& server) {
  ares_addr_port_node node{};
  node.family = server.isIpv6() ? AF_INET6 : AF_INET;
  node.udp_port = node.tcp_port = server.port();
  const auto bytes = server.bytes();
  std::memcpy(&node.addr, bytes.data(), bytes.size());
  return node;
}

}  // namespace

struct DnsTry::DnsSocket final : PollSink {
  DnsSocket(DnsTry& owner, int descriptor) : attempt(owner), fd(descriptor), poll(owner.worker_, descriptor, *this) {}
  // The socket and its owner may be destroyed in there: no code may follow the call.
  void onReady(bool readable, bool writable) override {
    attempt.process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  DnsTry& attempt;
  int fd;
  Poll poll;
};

DnsTry::DnsTry(const DnsTryParts& parts, DnsTrySink& sink)
    : worker_(parts.worker), sink_(sink), name_(parts.name), server_(parts.server), maxAddresses_(parts.maxAddresses) {
  if (const int status = open(parts); status == ARES_SUCCESS) {
    ask(parts.ipv6);
  } else {
    end(status, nullptr);
  }
  if (!outcome_) worker_.timers().set(*this, worker_.now() + parts.timeout);
}

DnsTry::~DnsTry() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

// Every option that c-ares would otherwise read from the system's files is given.
int DnsTry::open(const DnsTryParts& parts) {
  char lookups[] = "b";
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | (parts.edns ? ARES_FLAG_EDNS : 0);
  options.ednspsz = kDatagramSize;
  options.timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(parts.timeout).count());
  options.tries = 1;
  options.lookups = lookups;
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, ares_socket_t fd, int readable, int writable) {
    static_cast<DnsTry*>(self)->socketState(fd, readable != 0, writable != 0);
  };
  const int given = ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                    ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS | ARES_OPT_SERVERS | ARES_OPT_SORTLIST | ARES_OPT_SOCK_STATE_CB;
  if (const int status = ares_init_options(&channel_, &options, given); status != ARES_SUCCESS) return status;
  ares_addr_port_node server = toNode(parts.server);
  return ares_set_servers_ports(channel_, &server);
}

void DnsTry::ask(bool ipv6) {
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = ipv6 ? AF_INET6 : AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  const auto done = [](void* self, int status, int, ares_addrinfo* info) {
    const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owned(info, &ares_freeaddrinfo);
    if (status != ARES_EDESTRUCTION) static_cast<DnsTry*>(self)->end(status, info);
  };
  ares_getaddrinfo(channel_, name_.c_str(), nullptr, &hints, done, this);
}

// May be called from within c-ares, and only records.
void DnsTry::end(int status, const ares_addrinfo* info) {
  cancel();
  Addresses addresses;
  auto ttl = std::chrono::seconds::max();
  const auto shorten = [&ttl](int seconds) { ttl = std::min(ttl, std::chrono::seconds(std::max(seconds, 0))); };
  if (status == ARES_SUCCESS && info != nullptr) {
    for (const auto* alias = info->cnames; alias != nullptr; alias = alias->next) shorten(alias->ttl);
    for (const auto* node = info->nodes; node != nullptr && addresses.size() < maxAddresses_; node = node->ai_next) {
      addresses.push_back(Address::fromSockaddr(node->ai_addr).withPort(0));
      shorten(node->ai_ttl);
    }
  }
  if (!addresses.empty()) {
    outcome_ = DnsAnswer{name_, std::move(addresses), ttl, false};
    return;
  }
  const auto type = status == ARES_ETIMEOUT ? base::ErrorType::kDnsTimeout : base::ErrorType::kDnsError;
  const bool hasNoRecord = status == ARES_ENODATA || status == ARES_SUCCESS;
  const bool denied = status == ARES_ENOTFOUND || hasNoRecord;
  auto error = base::Error::upstream(type, name_ + ": " + reasonOf(status));
  error.note = "asked " + server_.toString();
  outcome_ = DnsAnswer{name_, std::move(error), {}, denied, {}, hasNoRecord};
}

void DnsTry::socketState(int fd, bool readable, bool writable) {
  const auto known = std::find_if(sockets_.begin(), sockets_.end(), [fd](const auto& one) { return one->fd == fd; });
  if (!readable && !writable) {
    if (known != sockets_.end()) sockets_.erase(known);
    return;
  }
  DnsSocket& socket =
      known != sockets_.end() ? **known : *sockets_.emplace_back(std::make_unique<DnsSocket>(*this, fd));
  socket.poll.watch(readable, writable);
}

void DnsTry::process(int readable, int writable) {
  ares_process_fd(channel_, readable, writable);
  if (outcome_) sink_.onTried();
}

void DnsTry::onTimer() {
  end(ARES_ETIMEOUT, nullptr);
  sink_.onTried();
}

}  // namespace sluice::net
