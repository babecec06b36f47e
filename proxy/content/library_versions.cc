#include "proxy/content/library_versions.h"

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>

namespace sluice::content {
namespace {

std::string joinedVersion(std::uint32_t major, std::uint32_t minor, std::uint32_t patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

base::LibraryVersions libraryVersions() {
  const std::uint32_t brotli = BrotliDecoderVersion();  // eight bits, and twelve for each of the others
  return {{"RE2", SLUICE_RE2_VERSION},
          {"zlib", zlibVersion()},
          {"brotli", joinedVersion(brotli >> 24, (brotli >> 12) & 0xFFF, brotli & 0xFFF)},
          {"zstd", ZSTD_versionString()}};
}

}  // namespace sluice::content
