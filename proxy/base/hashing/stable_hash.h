// A hash that is the same in every process, so that replicas of the gateway agree about it. It is fast and no secret:
// a client that chooses the text can choose the value too.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::base {

std::uint64_t stableHash(std::string_view text, std::uint64_t seed = 0);

}  // namespace sluice::base
