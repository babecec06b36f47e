// The versions of the libraries that only this folder uses.
#pragma once

#include "proxy/base/library_version.h"

namespace sluice::pki {

/// Returns the versions of OpenSSL that runs, and of libxcrypt that the program was built with.
base::LibraryVersions libraryVersions();

}  // namespace sluice::pki
