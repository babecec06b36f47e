// The name and the version of a library that the program is linked with. The folder that uses a library knows its
// version: each has a libraryVersions() of its own.
#pragma once

#include <string>
#include <vector>

namespace sluice::base {

struct LibraryVersion {
  std::string name;
  std::string version;
};

using LibraryVersions = std::vector<LibraryVersion>;

}  // namespace sluice::base
