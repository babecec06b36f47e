#include "filters/lua/ground/random_numbers.h"

#include <bit>
#include <limits>
#include <span>

#include "proxy/pki/random_bytes.h"

namespace sluice::filters::lua {

RandomNumbers::RandomNumbers() : hasSeed_(pki::fillRandom(std::as_writable_bytes(std::span(state_)))) {}

std::uint64_t RandomNumbers::next() {
  auto& [a, b, c, d] = state_;
  const std::uint64_t result = std::rotl(b * 5, 7) * 9;
  const std::uint64_t shifted = b << 17U;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = std::rotl(d, 45);
  return result;
}

std::uint64_t RandomNumbers::upTo(std::uint64_t most) {
  if (most == std::numeric_limits<std::uint64_t>::max()) return next();
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(next()) * (most + 1)) >> 64U);
}

}  // namespace sluice::filters::lua
