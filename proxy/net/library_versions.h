// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::net {

/// Returns the versions of libuv and c-ares that run.
base::LibraryVersions libraryVersions();

}  // namespace sluice::net
