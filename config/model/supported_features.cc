#include "config/model/supported_features.h"

#include <algorithm>
#include <iterator>

namespace sluice::config {
namespace {

constexpr std::string_view kFeatureKinds[] = {"BackendTLSPolicy", "GRPCRoute", "Gateway", "HTTPRoute",
                                              "ReferenceGrant"};

bool holdsAt(FeaturePlacement where, GatewayPlacement placement) {
  switch (where) {
    case FeaturePlacement::kAny:
      return true;
    case FeaturePlacement::kNotPods:
      return placement != GatewayPlacement::kPods;
    case FeaturePlacement::kPods:
      return placement == GatewayPlacement::kPods;
    case FeaturePlacement::kPodsOrPool:
      return placement != GatewayPlacement::kMachine;
  }
  return false;
}

bool hasItsField(const SupportedFeature& feature, const GatewayApiCrds& crds) {
  return std::any_of(std::begin(kFeatureKinds), std::end(kFeatureKinds), [&](std::string_view kind) {
    return feature.name.starts_with(kind) && crds.haveField(kind, feature.channel);
  });
}

}  // namespace

std::vector<std::string> supportedFeatures(GatewayPlacement placement, const GatewayApiCrds& crds) {
  std::vector<std::string> names;
  for (const SupportedFeature& each : kSupportedFeatures) {
    if (holdsAt(each.placement, placement) && hasItsField(each, crds)) names.emplace_back(each.name);
  }
  return names;
}

std::string featuresOfOtherCrds(GatewayPlacement placement, const GatewayApiCrds& crds) {
  std::string names;
  for (const SupportedFeature& each : kSupportedFeatures) {
    if (!holdsAt(each.placement, placement) || hasItsField(each, crds)) continue;
    names.append(names.empty() ? "" : ", ").append(each.name);
  }
  return names;
}

}  // namespace sluice::config
