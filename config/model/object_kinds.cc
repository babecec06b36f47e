#include "config/model/object_kinds.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

bool finishGood(FieldReader& root) {
  root.finish();
  return root.context().errors() == 0;
}

template <auto kRead>
std::shared_ptr<const void> readWhole(FieldReader& root, ObjectMeta meta, Rejected& /*rejected*/) {
  auto object = kRead(root, std::move(meta));
  if (!finishGood(root)) return nullptr;
  return std::make_shared<decltype(object)>(std::move(object));
}

template <auto kRead, auto kLegible>
std::shared_ptr<const void> readLegible(FieldReader& root, ObjectMeta meta, Rejected& rejected) {
  auto object = kRead(root, std::move(meta));
  if (!finishGood(root)) {
    rejected.*kLegible = std::move(object);
    return nullptr;
  }
  if (!object) return nullptr;
  return std::make_shared<typename decltype(object)::value_type>(*std::move(object));
}

template <typename T>
void putInto(Objects<T>& list, const std::shared_ptr<const void>& object) {
  list.add(std::static_pointer_cast<const T>(object));
}

template <auto kList>
void put(const std::shared_ptr<const void>& object, Model& model) {
  putInto(model.*kList, object);
}

constexpr std::string_view kServed[] = {"v1", "v1beta1"};
constexpr std::string_view kV1[] = {"v1"};
constexpr std::string_view kAlpha[] = {"v1alpha1"};
constexpr std::string_view kPrototype[] = {"v0alpha0"};

constexpr ObjectKind kObjectKinds[] = {
    {kGatewayGroup, "GatewayClass", kServed, false, readWhole<&readGatewayClass>, put<&Model::gatewayClasses>},
    {kGatewayGroup, "Gateway", kServed, true, readLegible<&readGateway, &Rejected::gateway>, put<&Model::gateways>},
    {kGatewayGroup, "HTTPRoute", kServed, true, readLegible<&readHttpRoute, &Rejected::httpRoute>,
     put<&Model::httpRoutes>},
    {kGatewayGroup, "GRPCRoute", kV1, true, readLegible<&readGrpcRoute, &Rejected::grpcRoute>, put<&Model::grpcRoutes>},
    {"", "Namespace", kV1, false, readWhole<&readNamespace>, put<&Model::namespaces>},
    {"", "ConfigMap", kV1, true, readWhole<&readConfigMap>, put<&Model::configMaps>},
    {"", "Secret", kV1, true, readWhole<&readSecret>, put<&Model::secrets>},
    {"", "Service", kV1, true, readWhole<&readService>, put<&Model::services>},
    {kDiscoveryGroup, "EndpointSlice", kV1, true, readWhole<&readEndpointSlice>, put<&Model::endpointSlices>},
    {kGatewayGroup, "Backend", kAlpha, true, readWhole<&readBackendSeed>, put<&Model::backends>},
    {kOwnGroup, "Backend", kAlpha, true, readWhole<&readOwnBackend>, put<&Model::backends>},
    {kPrototypeGroup, "Backend", kPrototype, true, readWhole<&readPrototypeBackend>, put<&Model::backends>},
    {kPrototypeGroup, "XBackendDestination", kPrototype, true, readWhole<&readPrototypeDestination>,
     put<&Model::backends>},
    {kGatewayGroup, "ReferenceGrant", kServed, true, readWhole<&readReferenceGrant>, put<&Model::referenceGrants>},
    {kExperimentalGroup, "XBackend", kAlpha, true, readWhole<&readXBackend>, put<&Model::backends>},
    {kOwnGroup, PayloadProcessor::kKind, kAlpha, true,
     readLegible<&readOwnPayloadProcessor, &Rejected::payloadProcessor>, put<&Model::payloadProcessors>},
    {kOwnGroup, PayloadProcessingPipeline::kKind, kAlpha, true, readWhole<&readOwnPipeline>, put<&Model::pipelines>},
    {kGatewayGroup, PayloadProcessor::kKind, kAlpha, true,
     readLegible<&readProposedPayloadProcessor, &Rejected::payloadProcessor>, put<&Model::payloadProcessors>},
    {kGatewayGroup, PayloadProcessingPipeline::kKind, kAlpha, true, readWhole<&readProposedPipeline>,
     put<&Model::pipelines>},
};

struct GroupKind {
  std::string_view group;
  std::string_view kind;
};

constexpr GroupKind kUnbuiltKinds[] = {
    {kGatewayGroup, "TLSRoute"},
    {kGatewayGroup, "TCPRoute"},
    {kGatewayGroup, "UDPRoute"},
    {kGatewayGroup, "ListenerSet"},
    {kGatewayGroup, "BackendTLSPolicy"},
    {kExperimentalGroup, "XMesh"},
    {kExperimentalGroup, "XBackendTrafficPolicy"},
    {kOwnGroup, "EgressRevision"},
};

}  // namespace

bool ObjectKind::hasVersion(std::string_view version) const {
  return std::find(versions.begin(), versions.end(), version) != versions.end();
}

const ObjectKind* findObjectKind(std::string_view group, std::string_view kind) {
  const auto* found = std::find_if(std::begin(kObjectKinds), std::end(kObjectKinds),
                                   [&](const ObjectKind& entry) { return entry.kind == kind && entry.group == group; });
  return found == std::end(kObjectKinds) ? nullptr : found;
}

bool isUnbuiltKind(std::string_view group, std::string_view kind) {
  return std::any_of(std::begin(kUnbuiltKinds), std::end(kUnbuiltKinds),
                     [&](const GroupKind& entry) { return entry.kind == kind && entry.group == group; });
}

std::string_view closestKind(std::string_view kind) {
  std::vector<std::string_view> words;
  for (const ObjectKind& entry : kObjectKinds) words.push_back(entry.kind);
  return base::closestWord(kind, words);
}

}  // namespace sluice::config
