// The key of digests (config/load/revision.h): the one that the settings name, or one of the process.
#pragma once

#include <optional>

#include "config/ground/problem.h"
#include "config/model/model.h"
#include "proxy/base/secret.h"

namespace sluice::control {

/// Returns the key that the settings of the model name (revisions.keyRef). If it cannot be used, that is a problem, and
/// there is none.
std::optional<base::Secret> givenRevisionKey(const config::Model& model, config::Problems& problems);

/// Returns a random key, as long as the digests that it protects.
base::Secret newRevisionKey();

}  // namespace sluice::control
