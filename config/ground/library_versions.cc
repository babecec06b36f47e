#include "config/ground/library_versions.h"

namespace sluice::config {

base::LibraryVersions libraryVersions() { return {{"yaml-cpp", SLUICE_YAML_CPP_VERSION}}; }

}  // namespace sluice::config
