// Converts the times of certificates and revocation lists to this program's wall time.
#pragma once

#include "proxy/base/clock.h"

struct asn1_string_st;

namespace sluice::pki {

/// Returns the epoch for an invalid time, and WallTime's maximum for a time beyond it.
base::WallTime toWallTime(const asn1_string_st* time);

}  // namespace sluice::pki
