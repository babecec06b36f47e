// The URL of an origin as --to has it: scheme, host and port, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::server {

struct OriginUrl {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port;
  bool isAddress;
  /// How the origin is spoken to: what a Backend's port has beside its number, such as ", tls: {mode: Simple}".
  std::string_view portMembers;
  /// The entry of addressGuard.allow without which the address would not be dialled; empty if it needs none.
  std::string allowance;
};

/// Parses "https://host", "http://127.0.0.1:3000" or "h2c://[::1]:50051". Errors say what is wrong with the value, and
/// hold no password.
base::Result<OriginUrl> parseOriginUrl(std::string_view text);

}  // namespace sluice::server
