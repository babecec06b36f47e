#include "proxy/server/commands/build_commit.h"

namespace sluice::server {

std::string_view buildCommit() { return SLUICE_COMMIT; }

}  // namespace sluice::server
