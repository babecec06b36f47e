#include "proxy/net/library_versions.h"

#include <ares.h>
#include <uv.h>

namespace sluice::net {

base::LibraryVersions libraryVersions() { return {{"libuv", uv_version_string()}, {"c-ares", ares_version(nullptr)}}; }

}  // namespace sluice::net
