// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::http {

/// Returns the version of nghttp2 that runs.
base::LibraryVersions libraryVersions();

}  // namespace sluice::http
