// The value ADDRESS:PORT of a flag.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/net/address.h"

namespace sluice::server {

/// Parses "127.0.0.1:9901" or "[::1]:9901". Names are not resolved.
std::optional<net::Address> parseEndpoint(std::string_view text);

}  // namespace sluice::server
