// The time in which the verification of a peer would have the same result again.
#pragma once

#include "proxy/base/clock.h"

namespace sluice::pki {

/// Every certificate of the verified chain is valid, and no revocation list has expired.
struct Validity {
  base::WallTime from = base::WallTime::min();
  base::WallTime until = base::WallTime::max();

  bool covers(base::WallTime now) const { return from <= now && now < until; }
};

}  // namespace sluice::pki
