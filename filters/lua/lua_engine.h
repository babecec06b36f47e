// The engine `lua` of the catalog: an entry's script reads and changes requests and responses, or answers them.
//
// The script has one function for each phase in which it runs: request_headers(m). A use that names no phase runs in
// all phases for which there is a function.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType luaEngine();

}  // namespace sluice::filters
