#include "config/convert/converted_kinds.h"

#include <algorithm>
#include <iterator>

#include "config/convert/model_writers.h"
#include "config/model/model.h"

namespace sluice::config {
namespace {

template <typename Object>
Object modelOf(void (*)(const Object&, FieldWriter&, Leftovers&));

template <auto kWriter>
void writeModel(const void* object, FieldWriter& spec, Leftovers& left) {
  kWriter(*static_cast<const decltype(modelOf(kWriter))*>(object), spec, left);
}

/// Returns the line for a kind whose counterpart is a kind of sluice.dev.
template <auto kWriter>
constexpr ConvertedKind toOwn(std::string_view newKind, std::string_view group, std::string_view kind) {
  return {group, kind, kOwnGroup, "v1alpha1", newKind, &writeModel<kWriter>};
}

constexpr ConvertedKind kConvertedKinds[] = {
    toOwn<&writeBackend>(Backend::kKind, kGatewayGroup, Backend::kKind),
    toOwn<&writeBackend>(Backend::kKind, kPrototypeGroup, Backend::kKind),
    toOwn<&writeBackend>(Backend::kKind, kPrototypeGroup, Backend::kDestinationKind),
    toOwn<&writeBackend>(Backend::kKind, kExperimentalGroup, "XBackend"),
    toOwn<&writeBackend>(Backend::kKind, kEnvoyGroup, Backend::kKind),
    toOwn<&writeTrafficPolicy>(TrafficPolicy::kKind, kEnvoyGroup, TrafficPolicy::kEnvoyKind),
    toOwn<&writeTrafficPolicy>(TrafficPolicy::kKind, kExperimentalGroup, TrafficPolicy::kExperimentalKind),
    toOwn<&writePayloadProcessor>(PayloadProcessor::kKind, kGatewayGroup, PayloadProcessor::kKind),
    toOwn<&writePayloadProcessor>(PayloadProcessor::kKind, kNetworkingGroup, PayloadProcessor::kKind),
    toOwn<&writeExtensionPolicy>(PayloadProcessor::kKind, kEnvoyGroup, ExtensionPolicy::kKind),
    toOwn<&writePipeline>(PayloadProcessingPipeline::kKind, kGatewayGroup, PayloadProcessingPipeline::kKind),
    toOwn<&writePipeline>(PayloadProcessingPipeline::kKind, kPrototypeGroup, PayloadProcessingPipeline::kRemoteKind),
    {kPrototypeGroup, Gateway::kEgressKind, kGatewayGroup, "v1", Gateway::kKind},
};

constexpr std::string_view kForeignGroups[] = {kPrototypeGroup, kExperimentalGroup, kEnvoyGroup, kNetworkingGroup};

}  // namespace

const ConvertedKind* findConvertedKind(std::string_view group, std::string_view kind) {
  const auto* found = std::find_if(std::begin(kConvertedKinds), std::end(kConvertedKinds),
                                   [&](const ConvertedKind& each) { return each.kind == kind && each.group == group; });
  return found == std::end(kConvertedKinds) ? nullptr : found;
}

bool isForeignGroup(std::string_view group) {
  return std::find(std::begin(kForeignGroups), std::end(kForeignGroups), group) != std::end(kForeignGroups);
}

}  // namespace sluice::config
