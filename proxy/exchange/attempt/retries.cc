#include "proxy/exchange/attempt/retries.h"

#include <algorithm>

namespace sluice::exchange {
namespace {

// A backoff that doubles stops growing here, unless it begins beyond this bound.
constexpr base::Duration kLongestPause = std::chrono::seconds(10);

}  // namespace

base::Duration Retries::pause(std::uint64_t random) const {
  const base::Duration least = rule_.retry->backoff;
  const base::Duration most = std::max(least, kLongestPause);
  base::Duration pause = least;
  for (std::uint32_t i = 0; i < made_ && pause < most; ++i) pause = std::min(pause * 2, most);
  // The upper 53 bits as a fraction of one.
  const double fraction = static_cast<double>(random >> 11) * 0x1p-53;
  return pause + base::Duration(static_cast<base::Duration::rep>(static_cast<double>(pause.count() / 4) * fraction));
}

}  // namespace sluice::exchange
