// Returns the versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::config {

/// Returns the version of yaml-cpp that the program was built with.
base::LibraryVersions libraryVersions();

}  // namespace sluice::config
