// Wall time as RFC 3339 in UTC with milliseconds: 2026-01-31T23:59:59.123Z.
//
// Calendar arithmetic is done once per second and cached. Owned by one writer, one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "proxy/base/clock.h"

namespace sluice::base {

class Timestamp {
 public:
  /// Returns the text, valid until the next call. Years 0 to 9999; times may come in any order.
  std::string_view text(WallTime time);
  static constexpr std::size_t kSize = 24;

 private:
  void render(std::int64_t second);

  std::int64_t second_ = std::numeric_limits<std::int64_t>::min();
  std::array<char, kSize> text_{};
};

}  // namespace sluice::base
