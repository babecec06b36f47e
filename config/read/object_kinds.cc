#include "config/read/object_kinds.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/model/client_traffic_policy.h"
#include "config/model/egress_policy.h"
#include "config/model/gateway_parameters.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// The type of object that a reader fills in.
template <typename Result, typename Object>
Object objectOf(Result (*)(FieldReader&, Object&));
template <auto kFields>
using ObjectOf = decltype(objectOf(kFields));

/// Reads an object with its reader for fields. Returns true if its readable part is useful after errors.
template <auto kFields>
bool fill(FieldReader& reader, ObjectOf<kFields>& object) {
  using Object = ObjectOf<kFields>;
  if constexpr (HoldsUnsupported<Object>) reader.collectUnsupported(object.unsupported);
  if constexpr (std::is_same_v<decltype(kFields(reader, object)), bool>) return kFields(reader, object);
  kFields(reader, object);
  // A refused policy is useful if it has targets, because it closes them.
  if constexpr (std::is_base_of_v<PolicyTargets, Object>) return !object.empty();
  return false;
}

/// Reads the object with `kFields`, either as a whole or only its `spec`, which is required.
template <auto kFields, bool kOfSpec>
std::shared_ptr<const void> readKind(FieldReader& root, ObjectMeta meta, Rejected& rejected) {
  using Object = ObjectOf<kFields>;
  auto object = std::make_shared<Object>();
  object->meta = std::move(meta);
  bool isOfUse = false;
  if constexpr (kOfSpec) {
    root.require("spec");
    FieldReader spec = root.map("spec");
    isOfUse = fill<kFields>(spec, *object);
    spec.finish();
  } else {
    isOfUse = fill<kFields>(root, *object);
  }
  root.finish();
  if (root.context().errors() == 0) return object;
  if (isOfUse) rejected.remains = std::shared_ptr<const Object>(std::move(object));
  return nullptr;
}

template <typename Object>
void put(const std::shared_ptr<const void>& object, Model& model) {
  model.add(std::static_pointer_cast<const Object>(object));
}

template <typename Object>
bool keep(const Rejected& refused, const Model& previous, Model& model) {
  const Object* before = previous.find<Object>(refused.group, refused.kind, refused.nameSpace, refused.name);
  if (before == nullptr) return false;
  auto kept = std::make_shared<Object>(*before);
  static_cast<ObjectVersion&>(kept->meta) = refused;
  model.add<Object>(std::move(kept));
  return true;
}

template <typename Object>
const ObjectMeta* findMeta(const ObjectKind& kind, const Model& model, std::string_view nameSpace,
                           std::string_view name) {
  const Object* found = model.find<Object>(kind.group, kind.kind, nameSpace, name);
  return found == nullptr ? nullptr : &found->meta;
}

template <typename Object>
void forEachMeta(const ObjectKind& kind, const Model& model, const std::function<bool(const ObjectMeta&)>& visit) {
  for (const Object& each : model.all<Object>()) {
    if (each.meta.kind == kind.kind && each.meta.group == kind.group && !visit(each.meta)) return;
  }
}

/// Returns the table's line for a kind. `kFields` reads its `spec`, or, with kWhole, everything except the metadata.
template <auto kFields, bool kOfSpec = true>
constexpr ObjectKind readBy(std::string_view group, std::string_view kind, std::span<const std::string_view> versions,
                            const KindTraits& traits = {}) {
  using Object = ObjectOf<kFields>;
  return {traits,
          group,
          kind,
          versions,
          &typeid(Object),
          &readKind<kFields, kOfSpec>,
          &put<Object>,
          &keep<Object>,
          &findMeta<Object>,
          &forEachMeta<Object>};
}
constexpr bool kWhole = false;

constexpr std::string_view kServed[] = {"v1", "v1beta1"};
constexpr std::string_view kV1[] = {"v1"};
constexpr std::string_view kAlpha[] = {"v1alpha1"};
constexpr std::string_view kPrototype[] = {"v0alpha0"};
constexpr std::string_view kTlsPolicy[] = {"v1", "v1alpha3"};

using Shape = StatusShape;

constexpr ObjectKind kObjectKinds[] = {
    readBy<&readGatewayClass>(kGatewayGroup, GatewayClass::kKind, kServed,
                              {.namespaced = false, .status = Shape::kConditions}),
    readBy<&readGateway>(kGatewayGroup, Gateway::kKind, kServed, {.status = Shape::kGateway}),
    readBy<&readGateway>(kPrototypeGroup, Gateway::kEgressKind, kPrototype, {.status = Shape::kGateway}),
    readBy<&readGatewayParameters, kWhole>(kOwnGroup, GatewayParameters::kKind, kAlpha, {.crossesNamespaces = false}),
    readBy<&readHttpRoute>(kGatewayGroup, HttpRoute::kKind, kServed, {.status = Shape::kParents}),
    readBy<&readGrpcRoute>(kGatewayGroup, GrpcRoute::kKind, kV1, {.status = Shape::kParents}),
    readBy<&readNamespace, kWhole>("", Namespace::kKind, kV1, {.namespaced = false}),
    readBy<&readConfigMap, kWhole>("", ConfigMap::kKind, kV1),
    readBy<&readSecret, kWhole>("", SecretObject::kKind, kV1, {.covers = Covers::kRevisionByKey}),
    readBy<&readService, kWhole>("", Service::kKind, kV1),
    readBy<&readEndpointSlice, kWhole>(kDiscoveryGroup, EndpointSlice::kKind, kV1, {.covers = Covers::kEndpoints}),
    readBy<&readBackendSeed>(kGatewayGroup, Backend::kKind, kAlpha, {.status = Shape::kControllers}),
    readBy<&readOwnBackend>(kOwnGroup, Backend::kKind, kAlpha, {.status = Shape::kControllers}),
    readBy<&readPrototypeBackend>(kPrototypeGroup, Backend::kKind, kPrototype, {.status = Shape::kControllers}),
    readBy<&readPrototypeBackend>(kPrototypeGroup, Backend::kDestinationKind, kPrototype,
                                  {.status = Shape::kControllers}),
    readBy<&readReferenceGrant>(kGatewayGroup, ReferenceGrant::kKind, kServed),
    readBy<&readXBackend>(kExperimentalGroup, "XBackend", kAlpha,
                          {.status = Shape::kParents, .crossesNamespaces = false}),
    readBy<&readEnvoyBackend>(kEnvoyGroup, Backend::kKind, kAlpha, {.status = Shape::kConditions}),
    readBy<&readPayloadProcessor>(kOwnGroup, PayloadProcessor::kKind, kAlpha, {.status = Shape::kAncestors}),
    readBy<&readPayloadProcessor>(kGatewayGroup, PayloadProcessor::kKind, kAlpha, {.status = Shape::kAncestors}),
    readBy<&readPayloadProcessor>(kNetworkingGroup, PayloadProcessor::kKind, kPrototype, {.status = Shape::kAncestors}),
    readBy<&readPipeline>(kOwnGroup, PayloadProcessingPipeline::kKind, kAlpha, {.status = Shape::kConditions}),
    readBy<&readPipeline>(kGatewayGroup, PayloadProcessingPipeline::kKind, kAlpha, {.status = Shape::kConditions}),
    readBy<&readXPayloadProcessor>(kPrototypeGroup, PayloadProcessingPipeline::kRemoteKind, kPrototype,
                                   {.status = Shape::kConditions}),
    readBy<&readBackendTlsPolicy>(kGatewayGroup, BackendTlsPolicy::kKind, kTlsPolicy, {.status = Shape::kAncestors}),
    readBy<&readUnsupportedPolicy, kWhole>(kEnvoyGroup, "SecurityPolicy", kAlpha, {.status = Shape::kAncestors}),
    readBy<&readClientTrafficPolicy, kWhole>(kEnvoyGroup, ClientTrafficPolicy::kKind, kAlpha,
                                             {.status = Shape::kAncestors}),
    readBy<&readTrafficPolicy>(kOwnGroup, TrafficPolicy::kKind, kAlpha, {.status = Shape::kAncestors}),
    readBy<&readEgressPolicy>(kOwnGroup, EgressPolicy::kKind, kAlpha, {.status = Shape::kAncestors}),
    readBy<&readBackendTrafficPolicy>(kEnvoyGroup, TrafficPolicy::kEnvoyKind, kAlpha, {.status = Shape::kAncestors}),
    readBy<&readXBackendTrafficPolicy>(kExperimentalGroup, TrafficPolicy::kExperimentalKind, kAlpha,
                                       {.status = Shape::kAncestors}),
    readBy<&readExtensionPolicy>(kEnvoyGroup, ExtensionPolicy::kKind, kAlpha, {.status = Shape::kAncestors}),
};

struct GroupKind {
  std::string_view group;
  std::string_view kind;
};

constexpr std::string_view kInferenceGroup = "inference.networking.k8s.io";
constexpr std::string_view kInferenceAlphaGroup = "inference.networking.x-k8s.io";
constexpr std::string_view kMulticlusterGroup = "multicluster.x-k8s.io";
constexpr std::string_view kIstioGroup = "networking.istio.io";

constexpr GroupKind kUnsupportedKinds[] = {
    {kGatewayGroup, "TLSRoute"},
    {kGatewayGroup, "TCPRoute"},
    {kGatewayGroup, "UDPRoute"},
    {kGatewayGroup, "ListenerSet"},
    {kExperimentalGroup, "XListenerSet"},
    {kExperimentalGroup, "XMesh"},
    {kOwnGroup, "EgressRevision"},
    {kEnvoyGroup, "EnvoyPatchPolicy"},
    {kEnvoyGroup, "EnvoyProxy"},
    {kEnvoyGroup, "HTTPRouteFilter"},
    {kInferenceGroup, "InferencePool"},
    {kInferenceAlphaGroup, "InferencePool"},
    {kInferenceAlphaGroup, "InferenceModel"},
    {kInferenceAlphaGroup, "InferenceObjective"},
    {kMulticlusterGroup, "ServiceImport"},
    {kIstioGroup, "ServiceEntry"},
};

constexpr GroupKind kUnconcernedKinds[] = {
    {"", "LimitRange"},
    {"", "PersistentVolumeClaim"},
    {"", "Pod"},
    {"", "ResourceQuota"},
    {"", "ServiceAccount"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apps", "DaemonSet"},
    {"apps", "Deployment"},
    {"apps", "StatefulSet"},
    {"autoscaling", "HorizontalPodAutoscaler"},
    {"batch", "CronJob"},
    {"batch", "Job"},
    {"kustomize.config.k8s.io", "Kustomization"},
    {"networking.k8s.io", "NetworkPolicy"},
    {"policy", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"rbac.authorization.k8s.io", "Role"},
    {"rbac.authorization.k8s.io", "RoleBinding"},
};

bool isAmong(std::span<const GroupKind> kinds, std::string_view group, std::string_view kind) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const GroupKind& entry) { return entry.kind == kind && entry.group == group; });
}

}  // namespace

bool ObjectKind::hasVersion(std::string_view version) const {
  return std::find(versions.begin(), versions.end(), version) != versions.end();
}

std::span<const ObjectKind> objectKinds() { return kObjectKinds; }

const ObjectKind* findObjectKind(std::string_view group, std::string_view kind) {
  const auto* found = std::find_if(std::begin(kObjectKinds), std::end(kObjectKinds),
                                   [&](const ObjectKind& entry) { return entry.kind == kind && entry.group == group; });
  return found == std::end(kObjectKinds) ? nullptr : found;
}

bool carriesRequests(const ObjectKind& kind) {
  return kind.isOf<Gateway>() || kind.isOf<HttpRoute>() || kind.isOf<GrpcRoute>() || kind.isOf<Backend>() ||
         kind.isOf<Service>();
}

bool isUnsupportedKind(std::string_view group, std::string_view kind) {
  return isAmong(kUnsupportedKinds, group, kind);
}

bool isUnconcernedKind(std::string_view group, std::string_view kind) {
  return isAmong(kUnconcernedKinds, group, kind);
}

std::string_view closestKind(std::string_view kind) {
  std::vector<std::string_view> words;
  for (const ObjectKind& entry : kObjectKinds) words.push_back(entry.kind);
  return base::closestWord(kind, words);
}

}  // namespace sluice::config
