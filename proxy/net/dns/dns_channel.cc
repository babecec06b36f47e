#include "proxy/net/dns/dns_channel.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace sluice::net {
namespace {

constexpr std::uint16_t kDnsPort = 53;

/// Parses "ip", "ip:port" or "[ipv6]:port".
std::optional<Address> parseServer(std::string_view text) {
  if (auto plain = Address::parse(text, kDnsPort)) return plain;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  std::string_view ip = text.substr(0, colon);
  const bool bracketed = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
  if (bracketed) ip = ip.substr(1, ip.size() - 2);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  auto address = Address::parse(ip, port);
  return address && address->isIpv6() == bracketed ? address : std::nullopt;
}

const char* reasonOf(int status) {
  if (status == ARES_SUCCESS) return ares_strerror(ARES_ENODATA);
  // c-ares gives this status when the last server has failed, whether it could not be reached or answered SERVFAIL.
  if (status == ARES_ECONNREFUSED) return "no name server has an answer";
  return ares_strerror(status);
}

ares_addr_port_node toNode(const Address& server) {
  ares_addr_port_node node{};
  node.family = server.isIpv6() ? AF_INET6 : AF_INET;
  node.udp_port = node.tcp_port = server.port();
  const auto* bytes = reinterpret_cast<const char*>(server.sockaddrPtr());
  if (server.isIpv6()) {
    std::memcpy(&node.addr.addr6, bytes + offsetof(sockaddr_in6, sin6_addr), sizeof(node.addr.addr6));
  } else {
    std::memcpy(&node.addr.addr4, bytes + offsetof(sockaddr_in, sin_addr), sizeof(node.addr.addr4));
  }
  return node;
}

}  // namespace

struct DnsChannel::DnsSocket final : PollSink {
  DnsSocket(DnsChannel& owner, int descriptor)
      : channel(owner), fd(descriptor), poll(owner.worker_, descriptor, *this) {}
  // c-ares may close this socket in there: no code may follow the call.
  void onReady(bool readable, bool writable) override {
    channel.process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
  }

  DnsChannel& channel;
  int fd;
  Poll poll;
};

struct DnsChannel::DnsQuery {
  DnsChannel& channel;
  std::string name;
  int triesLeft;
};

DnsChannel::DnsChannel(Worker& worker, const base::DnsSettings& settings, DnsChannelSink& sink)
    : worker_(worker),
      sink_(sink),
      timeout_(settings.timeout),
      attempts_(static_cast<int>(std::max(settings.attempts, 1U))),
      maxAddresses_(std::max<std::size_t>(settings.maxAddresses, 1)),
      ipv6_(settings.ipv6) {}

base::Result<std::unique_ptr<DnsChannel>> DnsChannel::open(Worker& worker, const base::DnsSettings& settings,
                                                           DnsChannelSink& sink) {
  std::unique_ptr<DnsChannel> channel(new DnsChannel(worker, settings, sink));
  if (auto ready = channel->init(settings.servers); !ready) return std::move(ready).error();
  return channel;
}

DnsChannel::~DnsChannel() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

base::Result<bool> DnsChannel::init(const std::vector<std::string>& servers) {
  std::vector<ares_addr_port_node> nodes;
  for (const std::string& server : servers) {
    const auto address = parseServer(server);
    if (!address) return base::Error::config("dns.servers: '" + server + "' is neither an address nor address:port");
    nodes.push_back(toNode(*address));
  }
  for (std::size_t i = 1; i < nodes.size(); ++i) nodes[i - 1].next = &nodes[i];

  char lookups[] = "b";
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout_).count());
  options.tries = 1;
  options.ndots = 0;
  options.ndomains = 0;
  options.lookups = lookups;
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, ares_socket_t fd, int readable, int writable) {
    static_cast<DnsChannel*>(self)->socketState(fd, readable != 0, writable != 0);
  };
  const int given = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_DOMAINS |
                    ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  int status = ares_init_options(&channel_, &options, given);
  if (status == ARES_SUCCESS && !nodes.empty()) status = ares_set_servers_ports(channel_, nodes.data());
  if (status != ARES_SUCCESS) return base::Error::config(std::string("dns: ") + ares_strerror(status));
  return true;
}

void DnsChannel::ask(std::string_view name) {
  send(std::make_unique<DnsQuery>(DnsQuery{*this, std::string(name), attempts_}));
  arm();
}

void DnsChannel::send(std::unique_ptr<DnsQuery> question) {
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = ipv6_ ? AF_UNSPEC : AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  --question->triesLeft;
  const char* name = question->name.c_str();
  const auto done = [](void* argument, int status, int, ares_addrinfo* info) {
    std::unique_ptr<DnsQuery> mine(static_cast<DnsQuery*>(argument));
    const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owned(info, &ares_freeaddrinfo);
    DnsChannel& channel = mine->channel;
    channel.answered(std::move(mine), status, info);
  };
  ares_getaddrinfo(channel_, name, nullptr, &hints, done, question.release());
}

void DnsChannel::answered(std::unique_ptr<DnsQuery> question, int status, const ares_addrinfo* info) {
  if (status == ARES_EDESTRUCTION) return;
  if (status == ARES_ETIMEOUT && question->triesLeft > 0) return send(std::move(question));
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
    return sink_.onAnswer({std::move(question->name), std::move(addresses), ttl, false});
  }
  const auto type = status == ARES_ETIMEOUT ? base::ErrorType::kDnsTimeout : base::ErrorType::kDnsError;
  auto error = base::Error::upstream(type, question->name + ": " + reasonOf(status));
  // c-ares asks two questions for one name and gives the status of the last: the other one may have failed.
  const bool isEmpty = (status == ARES_ENODATA || status == ARES_SUCCESS) && !ipv6_;
  sink_.onAnswer({std::move(question->name), std::move(error), {}, status == ARES_ENOTFOUND || isEmpty});
}

void DnsChannel::socketState(int fd, bool readable, bool writable) {
  const auto known = std::find_if(sockets_.begin(), sockets_.end(), [fd](const auto& one) { return one->fd == fd; });
  if (!readable && !writable) {
    if (known != sockets_.end()) sockets_.erase(known);
    return;
  }
  DnsSocket& socket =
      known != sockets_.end() ? **known : *sockets_.emplace_back(std::make_unique<DnsSocket>(*this, fd));
  socket.poll.watch(readable, writable);
}

void DnsChannel::process(int readable, int writable) {
  ares_process_fd(channel_, readable, writable);
  arm();
  sink_.onProcessed();
}

void DnsChannel::arm() {
  timeval wait{};
  if (ares_timeout(channel_, nullptr, &wait) == nullptr) return cancel();
  const base::Duration duration = std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec);
  worker_.timers().set(*this, worker_.now() + duration);
}

void DnsChannel::onTimer() { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); }

}  // namespace sluice::net
