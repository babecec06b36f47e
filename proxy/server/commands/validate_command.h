// `sluice validate`: the same reading and compiling as `sluice run`, with the result printed instead of served.
#pragma once

#include <string>
#include <vector>

#include "proxy/processing/factory.h"

namespace sluice::server {

/// Prints every problem and every object with its conditions to stdout, if `live` with the addresses and ports where
/// nobody can listen now. Returns 0 if all of it can be served as written, else 1.
int validateConfiguration(const std::vector<std::string>& paths, bool live, const processing::BuiltinTypes& processors);

}  // namespace sluice::server
