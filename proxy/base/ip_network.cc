#include "proxy/base/ip_network.h"

#include <arpa/inet.h>

#include <charconv>
#include <string>

namespace sluice::base {
namespace {

constexpr unsigned kBitsOfByte = 8;

/// Returns the mask of the bits of byte `index` that belong to a prefix of that length.
std::uint8_t maskOf(unsigned bits, unsigned index) {
  const unsigned before = index * kBitsOfByte;
  if (bits >= before + kBitsOfByte) return 0xff;
  if (bits <= before) return 0;
  return static_cast<std::uint8_t>(0xff00U >> (bits - before));
}

}  // namespace

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string ip(text.substr(0, slash));
  IpNetwork network;
  if (::inet_pton(AF_INET, ip.c_str(), network.prefix.data()) == 1) {
    network.bytes = 4;
  } else if (::inet_pton(AF_INET6, ip.c_str(), network.prefix.data()) == 1) {
    network.bytes = 16;
  } else {
    return std::nullopt;
  }
  const unsigned most = network.bytes * kBitsOfByte;
  unsigned bits = most;
  if (slash != std::string_view::npos) {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + slash + 1, end, bits);
    if (parsed.ec != std::errc{} || parsed.ptr != end || bits > most) return std::nullopt;
  }
  network.bits = static_cast<std::uint8_t>(bits);
  for (unsigned i = 0; i < network.bytes; ++i) network.prefix[i] &= maskOf(bits, i);
  return network;
}

bool IpNetwork::contains(AddressBytes address) const {
  if (address.size() != bytes) return false;
  for (unsigned i = 0; i < bytes && i * kBitsOfByte < bits; ++i) {
    if ((address[i] & maskOf(bits, i)) != prefix[i]) return false;
  }
  return true;
}

}  // namespace sluice::base
