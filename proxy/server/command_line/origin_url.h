// The URL of an origin in --to: scheme, host and port, and nothing else.
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
  /// The fields of a Backend's port besides its number, such as ", tls: {mode: Simple}".
  std::string_view portMembers;
  /// The entry of addressGuard.allow without which the address would not be dialled; empty if it needs none.
  std::string allowance;
};

/// Parses "https://host", "http://127.0.0.1:3000" or "h2c://[::1]:50051". Errors name the fault of the value, and
/// contain no password.
base::Result<OriginUrl> parseOriginUrl(std::string_view text);

}  // namespace sluice::server
