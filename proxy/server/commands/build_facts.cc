#include "proxy/server/commands/build_facts.h"

namespace sluice::server {

std::string_view buildCommit() { return SLUICE_COMMIT; }

std::string_view buildType() { return SLUICE_BUILD_TYPE; }

}  // namespace sluice::server
