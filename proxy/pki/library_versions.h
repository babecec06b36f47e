// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::pki {

/// Returns the version of OpenSSL that runs.
base::LibraryVersions libraryVersions();

}  // namespace sluice::pki
