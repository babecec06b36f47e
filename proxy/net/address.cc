#include "proxy/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace sluice::net {
namespace {

// Copies the address in and out, because the storage is aligned like a sockaddr, which is less than its larger
// siblings require.
template <typename Sockaddr>
Sockaddr as(const sockaddr* address) {
  Sockaddr copy;
  std::memcpy(&copy, address, sizeof(copy));
  return copy;
}

}  // namespace

Address::Address() : storage_{} { storage_.base.sa_family = AF_INET; }

std::optional<Address> Address::parse(std::string_view ip, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN];
  if (ip.size() >= sizeof(text) || ip.find('\0') != std::string_view::npos) return std::nullopt;
  std::memcpy(text, ip.data(), ip.size());
  text[ip.size()] = '\0';

  sockaddr_in v4{};
  if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return fromSockaddr(reinterpret_cast<const sockaddr*>(&v4));
  }
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return fromSockaddr(reinterpret_cast<const sockaddr*>(&v6));
  }
  return std::nullopt;
}

Address Address::fromSockaddr(const sockaddr* address) {
  static_assert(sizeof(storage_) == sizeof(sockaddr_in6));
  Address result;
  if (address->sa_family == AF_INET) std::memcpy(&result.storage_, address, sizeof(sockaddr_in));
  if (address->sa_family == AF_INET6) std::memcpy(&result.storage_, address, sizeof(sockaddr_in6));
  return result;
}

bool Address::isLoopback() const {
  constexpr std::uint8_t kLoopbackNetwork = 127;
  const std::span<const std::uint8_t> ip = bytes();
  if (!isIpv6()) return ip.front() == kLoopbackNetwork;
  return ip.back() == 1 && std::all_of(ip.begin(), ip.end() - 1, [](std::uint8_t byte) { return byte == 0; });
}

std::span<const std::uint8_t> Address::bytes() const {
  const auto* start = reinterpret_cast<const std::uint8_t*>(&storage_);
  if (isIpv6()) return {start + offsetof(sockaddr_in6, sin6_addr), 16};
  return {start + offsetof(sockaddr_in, sin_addr), 4};
}

socklen_t Address::length() const { return isIpv6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }

std::uint16_t Address::port() const {
  return ntohs(isIpv6() ? as<sockaddr_in6>(sockaddrPtr()).sin6_port : as<sockaddr_in>(sockaddrPtr()).sin_port);
}

Address Address::withPort(std::uint16_t port) const {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  Address result = *this;
  const in_port_t number = htons(port);
  std::memcpy(result.storage_.bytes + offsetof(sockaddr_in, sin_port), &number, sizeof(number));
  return result;
}

bool Address::isIpv6() const { return storage_.base.sa_family == AF_INET6; }

// IPv4 is written by hand: each line of the access log has two addresses, and inet_ntop() takes 1,700 instructions for
// one.
char* Address::writeIp(char* to) const {
  const std::span<const std::uint8_t> address = bytes();
  if (isIpv6()) {
    inet_ntop(AF_INET6, address.data(), to, INET6_ADDRSTRLEN);
    return to + std::strlen(to);
  }
  for (const std::uint8_t byte : address) {
    to = std::to_chars(to, to + 3, byte).ptr;
    *to++ = '.';
  }
  return to - 1;
}

std::string Address::ip() const {
  std::array<char, INET6_ADDRSTRLEN> text;
  return {text.data(), writeIp(text.data())};
}

std::string Address::toString() const {
  std::array<char, INET6_ADDRSTRLEN + 8> text;  // room for brackets, a colon and five digits
  char* end = text.data();
  if (isIpv6()) *end++ = '[';
  end = writeIp(end);
  if (isIpv6()) *end++ = ']';
  *end++ = ':';
  return {text.data(), std::to_chars(end, end + 5, port()).ptr};
}

bool operator==(const Address& a, const Address& b) {
  if (a.isIpv6() != b.isIpv6() || a.port() != b.port()) return false;
  if (!a.isIpv6()) {
    return as<sockaddr_in>(a.sockaddrPtr()).sin_addr.s_addr == as<sockaddr_in>(b.sockaddrPtr()).sin_addr.s_addr;
  }
  const auto left = as<sockaddr_in6>(a.sockaddrPtr());
  const auto right = as<sockaddr_in6>(b.sockaddrPtr());
  return std::memcmp(&left.sin6_addr, &right.sin6_addr, sizeof(in6_addr)) == 0 &&
         left.sin6_scope_id == right.sin6_scope_id;
}

// An IPv4 address follows a prefix of multicast addresses, which are never the source of a packet.
ClientNetwork networkOf(const Address& address) {
  constexpr std::size_t kBytes = sizeof(ClientNetwork);
  const std::span<const std::uint8_t> bytes = address.bytes();
  ClientNetwork network = 0;
  for (const std::uint8_t byte : bytes.first(std::min(bytes.size(), kBytes))) network = network << 8 | byte;
  return address.isIpv6() ? network : 0xFFFF'0000'0000'0000 | network;
}

ClientNetwork networkOf(std::string_view ip) {
  const std::optional<Address> address = Address::parse(ip, 0);
  return address ? networkOf(*address) : kOwnNetwork;
}

}  // namespace sluice::net
