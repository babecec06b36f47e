#include "proxy/observe/library_versions.h"

#include <spdlog/version.h>

#include <string>

namespace sluice::observe {

base::LibraryVersions libraryVersions() {
  return {{"spdlog", std::to_string(SPDLOG_VER_MAJOR) + "." + std::to_string(SPDLOG_VER_MINOR) + "." +
                         std::to_string(SPDLOG_VER_PATCH)}};
}

}  // namespace sluice::observe
