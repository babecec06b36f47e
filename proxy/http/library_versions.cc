#include "proxy/http/library_versions.h"

#include <nghttp2/nghttp2.h>

namespace sluice::http {

base::LibraryVersions libraryVersions() { return {{"nghttp2", nghttp2_version(0)->version_str}}; }

}  // namespace sluice::http
