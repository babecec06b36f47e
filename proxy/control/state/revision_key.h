// The key of digests (config/revision.h), for a process to which none is given.
#pragma once

#include "proxy/base/secret.h"

namespace sluice::control {

/// Returns a key that nobody else knows, as long as the digests that it protects.
base::Secret newRevisionKey();

}  // namespace sluice::control
