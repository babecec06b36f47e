#include "proxy/control/report/replay_warnings.h"

#include <string>
#include <string_view>
#include <utility>

#include "config/load/field_places.h"

namespace sluice::control {

config::Problems replayWarnings(const CompiledConfiguration& configuration) {
  config::Problems warnings;
  config::FieldPlaces places(configuration.set);
  for (const compile::UnkeptBody& each : configuration.compiled.unkept) {
    const std::string_view kind = each.grpc ? config::GrpcRoute::kKind : config::HttpRoute::kKind;
    const std::size_t slash = each.route.find('/');
    const std::string_view route = each.route;
    config::Problem warning;
    warning.severity = config::Severity::kWarning;
    warning.position = places.find({config::kGatewayGroup, kind, route.substr(0, slash), route.substr(slash + 1)}, "");
    warning.object = std::string(kind) + " " + each.route;
    warning.message = "step " + each.step + " of " + each.backend + " may hold bodies of " + std::to_string(each.held) +
                      " bytes, but " + std::to_string(each.kept) +
                      " are kept for retries, so longer ones are not retried: raise retry.replayBytes of a "
                      "TrafficPolicy or limits.replayBuffer";
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace sluice::control
