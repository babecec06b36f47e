// A RequestMirror filter in the form that workers use: the destination of copies, and the fraction of requests that are
// copied.
#pragma once

#include <cstdint>
#include <memory>

namespace sluice::routing {

struct BackendPlan;

struct RequestMirror {
  std::shared_ptr<const BackendPlan> backend;  // never null
  std::uint32_t numerator = 1;                 // at most `denominator`
  std::uint32_t denominator = 1;

  bool takesAll() const { return numerator == denominator; }
  /// Returns true if this request is to be copied; `random` is uniform over 64 bits.
  bool takes(std::uint64_t random) const { return (random >> 32) * denominator >> 32 < numerator; }
};

}  // namespace sluice::routing
