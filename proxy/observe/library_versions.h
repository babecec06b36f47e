// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::observe {

/// Returns the version of spdlog that was compiled in.
base::LibraryVersions libraryVersions();

}  // namespace sluice::observe
