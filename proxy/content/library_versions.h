// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::content {

/// Returns the versions of zlib, brotli and zstd that run, and that of RE2 that the program was built with.
base::LibraryVersions libraryVersions();

}  // namespace sluice::content
