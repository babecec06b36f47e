// The options of `sluice revisions rollback`.
#pragma once

#include <string>

namespace sluice::server {

struct RollbackOptions {
  std::string gateway;   // "namespace/name"
  std::string revision;  // or its beginning; empty: the one that was served before
  bool undo = false;     // serve the newest objects again
};

}  // namespace sluice::server
