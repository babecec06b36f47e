// The header fields that no configuration can set, remove or match on, because heads never contain them: those of
// framing, of one connection, and between a client and the gateway alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::base {

/// The names of these fields in lower case, but for the ones that begin with "proxy-".
inline constexpr std::array<std::string_view, 9> kReservedFields = {
    "connection", "content-length", "expect",  "http2-settings",   "keep-alive",
    "te",         "trailer",        "upgrade", "transfer-encoding"};

/// Returns true for the name of such a field, in lower case.
constexpr bool isReservedField(std::string_view lowerCaseName) {
  // Most names have a length that none of these has.
  constexpr std::uint32_t kLengths = [] {
    std::uint32_t lengths = 0;
    for (const std::string_view name : kReservedFields) lengths |= std::uint32_t{1} << name.size();
    return lengths;
  }();
  if (lowerCaseName.starts_with("proxy-")) return true;
  const std::size_t length = lowerCaseName.size();
  return length < 32 && (kLengths >> length & 1U) != 0 &&
         std::find(kReservedFields.begin(), kReservedFields.end(), lowerCaseName) != kReservedFields.end();
}

/// Returns true for the name, in lower case, of a field by which gateways recognize that a request is in a loop.
constexpr bool isLoopField(std::string_view lowerCaseName) {
  return lowerCaseName == "via" || lowerCaseName == "sluice-via";
}

}  // namespace sluice::base
