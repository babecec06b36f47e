// The gateway's side of the interface to libraries: the functions that a library may call.
#pragma once

#include "filters/library/sluice_processor.h"

namespace sluice::filters::library {

/// Returns the table that every library gets. It lives as long as the process.
const sluice_host& hostFunctions();

}  // namespace sluice::filters::library
