// The commit that the program was built from.
#pragma once

#include <string_view>

namespace sluice::server {

/// Returns its abbreviated hash; "unknown" if it was built outside of a repository.
std::string_view buildCommit();

}  // namespace sluice::server
