// An IP address with a port: a value that can be compared and printed, but is never resolved.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::net {

class Address {
 public:
  Address();
  /// Parses "192.0.2.1" or "2001:db8::1", without brackets or zone. No other form is accepted: no octal numbers, no
  /// short forms.
  static std::optional<Address> parse(std::string_view ip, std::uint16_t port);
  static Address fromSockaddr(const sockaddr* address);

  const sockaddr* sockaddrPtr() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const;
  std::uint16_t port() const;
  Address withPort(std::uint16_t port) const;
  bool isIpv6() const;
  /// Returns true for 127.0.0.0/8 and ::1, which no other machine can reach.
  bool isLoopback() const;
  /// Returns the address itself, in network order: 4 bytes, or 16.
  std::span<const std::uint8_t> bytes() const;
  /// Returns "192.0.2.1" or "2001:db8::1".
  std::string ip() const;
  /// Returns "192.0.2.1:443" or "[2001:db8::1]:443".
  std::string toString() const;
  friend bool operator==(const Address& a, const Address& b);

  /// Writes the text of ip() and returns its end. `to` has room for INET6_ADDRSTRLEN bytes.
  char* writeIp(char* to) const;

 private:
  union {
    sockaddr base;
    // Large enough for sockaddr_in6; sockaddr_storage would be four times that, in every connection.
    char bytes[28];
  } storage_;
};

/// The text of an address without its port, as a value that needs no memory elsewhere.
class IpText {
 public:
  explicit IpText(const Address& address)
      : size_(static_cast<std::uint8_t>(address.writeIp(text_.data()) - text_.data())) {}
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, INET6_ADDRSTRLEN> text_;
  std::uint8_t size_;
};

/// Identifies the host that has an address: by the whole IPv4 address, or by the first 64 bits of an IPv6 address,
/// because one host may use all addresses that begin with them (RFC 4291 section 2.5.1).
using ClientNetwork = std::uint64_t;
/// The value for the gateway itself, which no client's address has.
inline constexpr ClientNetwork kOwnNetwork = ~ClientNetwork{0};
ClientNetwork networkOf(const Address& address);
/// Returns the network of an address in the form of Address::ip(); kOwnNetwork for any other text.
ClientNetwork networkOf(std::string_view ip);

/// The addresses of a name, at least one.
using Addresses = std::vector<Address>;

}  // namespace sluice::net
