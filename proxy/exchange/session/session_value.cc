#include "proxy/exchange/session/session_value.h"

#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sluice::exchange {
namespace {

constexpr std::uint8_t kVersion = 1;
// version, begun, share, family, address, port
constexpr std::size_t kAddressBytes = 16;
static_assert(1 + 8 + 8 + 1 + kAddressBytes + 2 == SessionValue::kSize);

// The latest time that WallTime can hold.
constexpr std::uint64_t kLatest =
    std::chrono::duration_cast<std::chrono::milliseconds>(base::WallTime::duration::max()).count();

enum Family : std::uint8_t { kNone = 0, kIpv4 = 4, kIpv6 = 6 };

void append(std::string& bytes, std::uint64_t number, int count) {
  while (count-- > 0) bytes += static_cast<char>(number >> (8 * count));
}

std::uint64_t takeNumber(std::string_view& bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, count)) number = number << 8 | static_cast<unsigned char>(byte);
  bytes.remove_prefix(count);
  return number;
}

net::Address addressFrom(Family family, std::string_view bytes, std::uint16_t port) {
  if (family == kIpv4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes.data(), sizeof v4.sin_addr);
    return net::Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&v4));
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&v6.sin6_addr, bytes.data(), sizeof v6.sin6_addr);
  return net::Address::fromSockaddr(reinterpret_cast<const sockaddr*>(&v6));
}

}  // namespace

std::string SessionValue::toBytes() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(begun.time_since_epoch()).count();
  std::string bytes(1, static_cast<char>(kVersion));
  append(bytes, static_cast<std::uint64_t>(since), 8);
  append(bytes, share, 8);
  if (!endpoint) {
    bytes.resize(kSize, '\0');
    return bytes;
  }
  bytes += static_cast<char>(endpoint->isIpv6() ? kIpv6 : kIpv4);
  for (const std::uint8_t byte : endpoint->bytes()) bytes += static_cast<char>(byte);
  bytes.resize(kSize - 2, '\0');
  append(bytes, endpoint->port(), 2);
  return bytes;
}

std::optional<SessionValue> SessionValue::parse(std::string_view bytes) {
  if (bytes.size() != kSize || takeNumber(bytes, 1) != kVersion) return std::nullopt;
  SessionValue value;
  const std::uint64_t since = takeNumber(bytes, 8);
  if (since > kLatest) return std::nullopt;
  value.begun = base::WallTime(std::chrono::milliseconds(static_cast<std::int64_t>(since)));
  value.share = takeNumber(bytes, 8);
  const auto family = static_cast<Family>(takeNumber(bytes, 1));
  if (family == kNone) return value;
  if (family != kIpv4 && family != kIpv6) return std::nullopt;
  const std::string_view address = bytes.substr(0, kAddressBytes);
  bytes.remove_prefix(kAddressBytes);
  value.endpoint = addressFrom(family, address, static_cast<std::uint16_t>(takeNumber(bytes, 2)));
  return value;
}

}  // namespace sluice::exchange
