// The facts about the build that only CMake knows.
#pragma once

#include <string_view>

namespace sluice::server {

/// Returns the abbreviated hash of the commit; "unknown" if it was built outside of a repository.
std::string_view buildCommit();
/// Returns the build type of CMake, and the sanitizers if there are any: "Release", "Dev with address,undefined".
std::string_view buildType();

}  // namespace sluice::server
