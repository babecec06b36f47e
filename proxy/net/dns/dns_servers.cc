#include "proxy/net/dns/dns_servers.h"

#include <ares.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

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

Address addressOf(const ares_addr_port_node& node) {
  const auto port = static_cast<std::uint16_t>(node.udp_port != 0 ? node.udp_port : kDnsPort);
  if (node.family == AF_INET6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    std::memcpy(&address.sin6_addr, &node.addr.addr6, sizeof address.sin6_addr);
    return Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&address)).withPort(port);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::memcpy(&address.sin_addr, &node.addr.addr4, sizeof address.sin_addr);
  return Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&address)).withPort(port);
}

/// Reads resolv.conf through a c-ares channel that sends no query.
base::Result<Addresses> systemServers() {
  ares_channel channel = nullptr;
  int status = ares_init(&channel);
  const std::unique_ptr<ares_channeldata, decltype(&ares_destroy)> owned(channel, &ares_destroy);
  ares_addr_port_node* first = nullptr;
  if (status == ARES_SUCCESS) status = ares_get_servers_ports(channel, &first);
  const std::unique_ptr<ares_addr_port_node, decltype(&ares_free_data)> nodes(first, &ares_free_data);
  if (status != ARES_SUCCESS) return base::Error::config(std::string("dns: ") + ares_strerror(status));
  Addresses servers;
  for (const auto* node = first; node != nullptr; node = node->next) servers.push_back(addressOf(*node));
  if (servers.empty()) return base::Error::config("dns: the system names no server");
  return servers;
}

}  // namespace

base::Result<Addresses> dnsServers(const std::vector<std::string>& texts) {
  if (texts.empty()) return systemServers();
  Addresses servers;
  for (const std::string& text : texts) {
    const auto address = parseServer(text);
    if (!address) return base::Error::config("dns.servers: '" + text + "' is neither an address nor address:port");
    servers.push_back(*address);
  }
  return servers;
}

}  // namespace sluice::net
