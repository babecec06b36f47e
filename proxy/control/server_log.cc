#include "proxy/control/server_log.h"

#include <algorithm>
#include <string>

namespace sluice::control {

using processing::ServerReach;

void logServers(const std::vector<compile::AskedServer>& before, const std::vector<compile::AskedServer>& now,
                const observe::Log& log) {
  for (const compile::AskedServer& each : now) {
    const auto known = std::find_if(before.begin(), before.end(), [&](const compile::AskedServer& other) {
      return other.health == each.health && other.writtenIn == each.writtenIn && other.use == each.use;
    });
    const ServerReach was = known == before.end() ? ServerReach::kPending : known->state.reach;
    if (was == each.state.reach) continue;
    if (each.state.reach != ServerReach::kDegraded) {
      log.info("the server of a payload processor answers", {{"object", each.writtenIn}, {"use", each.use}});
      continue;
    }
    log.warn("the server of a payload processor is unreachable", {{"object", each.writtenIn},
                                                                  {"use", each.use},
                                                                  {"failures", std::to_string(each.state.failures)},
                                                                  {"cause", processing::causeName(each.state.cause)},
                                                                  {"requests", compile::effectOf(each.loss)}});
  }
}

}  // namespace sluice::control
