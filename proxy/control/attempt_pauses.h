// The pauses between attempts to serve a configuration.
//
// Pure functions.
#pragma once

#include <cstddef>

#include "proxy/base/clock.h"
#include "proxy/base/random.h"

namespace sluice::control {

/// Returns the pause after the first attempts that have failed, counted from 0: they become longer, up to 5 s.
base::Duration pauseAfter(std::size_t attempts);
/// Returns a pause that is longer or shorter by up to a half, so that replicas do not try at the same time.
base::Duration spread(base::Duration pause, base::Random& random);

}  // namespace sluice::control
