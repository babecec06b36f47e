// `sluice run --listen ADDR:PORT --to URL`: a gateway without files, which forwards every request to one of the
// origins.
//
// The flags are translated into Gateway API objects, which are read and served like those of a file. These are pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/result.h"

namespace sluice::server {

/// Returns the objects in YAML. All origins share the requests equally. Of the addresses that are not public, the
/// settings allow only those in `to`. `listen` and `to` have at least one member each; errors name the flag.
base::Result<std::string> forwardingObjects(const std::vector<std::string>& listen, const std::vector<std::string>& to);

}  // namespace sluice::server
