#include "proxy/processing/verdict.h"

#include <array>
#include <cstddef>

namespace sluice::processing {

std::string_view causeName(Cause cause) {
  static constexpr std::array<std::string_view, 6> kNames = {"error",      "timeout",    "dropped",
                                                             "over_limit", "over_limit", "bad_body"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace sluice::processing
