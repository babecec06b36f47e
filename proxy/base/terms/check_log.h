// CheckLog is how much of a health check is logged (TrafficPolicy.spec.healthCheck.active.log).
#pragma once

#include <cstdint>

namespace sluice::base {

enum class CheckLog : std::uint8_t {
  kTransitions,  // changes between healthy and unhealthy
  kAll,          // each check that fails too
  kOff
};

}  // namespace sluice::base
