// The engine `library` of the catalog: a shared object in the folder of --library-dir reads and edits requests and
// responses, or answers them; see sluice_processor.h.
#pragma once

#include <string>

#include "proxy/processing/factory.h"

namespace sluice::filters {

/// `folder` is that of --library-dir.
processing::BuiltinType libraryEngine(std::string folder);

}  // namespace sluice::filters
