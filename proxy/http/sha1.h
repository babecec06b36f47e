// SHA-1 (RFC 3174), for the one thing that still asks for it: the answer to a WebSocket handshake, where it proves
// understanding and protects nothing. Never for anything else.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::http {

std::array<std::uint8_t, 20> sha1(std::string_view text);

}  // namespace sluice::http
