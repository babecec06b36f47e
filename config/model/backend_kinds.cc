#include "config/model/backend_kinds.h"

#include <algorithm>

namespace sluice::config {
namespace {

constexpr BackendKind kBackendKinds[] = {
    {kGatewayGroup, "Backend", BackendStatusShape::kControllers, true},
    {kOwnGroup, "Backend", BackendStatusShape::kControllers, true},
    {kPrototypeGroup, "Backend", BackendStatusShape::kControllers, true},
    {kPrototypeGroup, "XBackendDestination", BackendStatusShape::kControllers, true},
    {kExperimentalGroup, "XBackend", BackendStatusShape::kParents, false},
};

}  // namespace

const BackendKind* findBackendKind(std::string_view group, std::string_view kind) {
  const auto* found = std::find_if(std::begin(kBackendKinds), std::end(kBackendKinds),
                                   [&](const BackendKind& each) { return each.kind == kind && each.group == group; });
  return found == std::end(kBackendKinds) ? nullptr : found;
}

}  // namespace sluice::config
