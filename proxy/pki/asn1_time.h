// The times of certificates and revocation lists as this program's wall time.
#pragma once

#include "proxy/base/clock.h"

struct asn1_string_st;

namespace sluice::pki {

/// The epoch for what is no time; WallTime's last for what lies behind it.
base::WallTime toWallTime(const asn1_string_st* time);

}  // namespace sluice::pki
