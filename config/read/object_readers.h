// One reader for each line in the table of kinds: it turns a document's fields into a typed object, whose metadata is
// there already. Problems go to the FieldReader's context; nothing throws. An object whose context has errors is not
// served.
//
// `spec` is the map of that name, and `root` is the document, of kinds that have more than a spec. The table of kinds
// (object_kinds.cc) calls finish() on both. A policy is refused with its legible part, if that says what it targets. A
// reader of another kind returns true if the legible part of an object is of use after errors, or returns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/gateway_parameters.h"
#include "config/model/model.h"

namespace sluice::config {

struct ObjectKind;

ObjectMeta readMeta(FieldReader& root, const ObjectKind& kind);

void readGatewayClass(FieldReader& spec, GatewayClass& gatewayClass);
/// The legible part is of use if its listeners can still answer requests (see Rejected).
bool readGateway(FieldReader& spec, Gateway& gateway);
/// The legible part is of use if its hostnames are legible.
bool readHttpRoute(FieldReader& spec, HttpRoute& route);
bool readGrpcRoute(FieldReader& spec, GrpcRoute& route);
void readReferenceGrant(FieldReader& spec, ReferenceGrant& grant);
/// What could be read is of use, because it may name others.
bool readConfigMap(FieldReader& root, ConfigMap& configMap);
void readNamespace(FieldReader& root, Namespace& object);
void readSecret(FieldReader& root, SecretObject& secret);
void readService(FieldReader& root, Service& service);
void readEndpointSlice(FieldReader& root, EndpointSlice& slice);
/// Reads gateway.networking.k8s.io/v1alpha1 Backend, both in the proposal's first form and in its later one.
void readBackendSeed(FieldReader& spec, Backend& backend);
/// Reads ainetworking.prototype.x-k8s.io/v0alpha0 Backend and XBackendDestination: the later form as the prototype's
/// CRDs define it.
void readPrototypeBackend(FieldReader& spec, Backend& backend);
/// Reads sluice.dev/v1alpha1 Backend: both forms of the proposal, and `tls.options`.
void readOwnBackend(FieldReader& spec, Backend& backend);
void readEnvoyBackend(FieldReader& spec, Backend& backend);
void readXBackend(FieldReader& spec, Backend& backend);
/// Reads sluice.dev/v1alpha1 PayloadProcessor, gateway.networking.k8s.io/v1alpha1 as GEP-5091 drafts it, with the same
/// fields, and ainetworking.x-k8s.io/v0alpha0, which spells its processors in another way.
void readPayloadProcessor(FieldReader& spec, PayloadProcessor& processor);
void readPipeline(FieldReader& spec, PayloadProcessingPipeline& pipeline);
void readXPayloadProcessor(FieldReader& spec, PayloadProcessingPipeline& pipeline);
void readExtensionPolicy(FieldReader& spec, ExtensionPolicy& policy);
void readGatewayParameters(FieldReader& root, GatewayParameters& parameters);
/// Reads the fields of the spec of sluice.dev/v1alpha1 GatewayParameters.
void readParameterFields(FieldReader& spec, GatewayParameters& parameters);
void readTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
/// Reads Envoy Gateway's BackendTrafficPolicy in either of its forms.
void readBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
void readXBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
void readBackendTlsPolicy(FieldReader& spec, BackendTlsPolicy& policy);
/// Reads what a policy of another API names, and warns that its kind is not supported.
void readUnsupportedPolicy(FieldReader& root, UnsupportedPolicy& policy);
/// Reads gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy, which closes what it names if it restricts clients.
void readClientTrafficPolicy(FieldReader& root, UnsupportedPolicy& policy);

// The functions below read parts that several kinds share.

/// How the fields of an active health check in another spelling differ from those of a TrafficPolicy.
struct OtherCheckFields {
  bool isOwn = false;                                          // there are unhealthyInterval, port and tls
  std::span<const std::string_view> withoutEffectOfHttp = {};  // of `http`; they are noted
};
/// Reads an active health check, in the spelling that Envoy Gateway and this program share.
void readActiveCheck(FieldReader& reader, const OtherCheckFields& others, ActiveHealthSettings& active);
/// Reads the fields of a TrafficPolicy that a Backend may have too, from the spec of either.
void readBackendTraffic(FieldReader& spec, BackendTraffic& traffic);

inline constexpr std::size_t kMaxPolicyTargets = 16;
/// Reads one target into `named`, as far as it is legible.
void readPolicyTarget(FieldReader reader, PolicyTargets& named);
/// Reads `targetRefs` of a policy, which are required.
void readTargetRefs(FieldReader& spec, PolicyTargets& named);
/// Reads `targetRefs`, the older `targetRef`, and `targetSelectors` of a policy, one of which is required.
void readPolicyTargets(FieldReader& spec, PolicyTargets& named);
/// Returns true for a Backend of any spelling, and for a Service.
bool isBackendTarget(const PolicyTarget& target);
/// Reports targets and selectors of kinds that policies of Envoy Gateway cannot have. Kinds that are known and not
/// served are none of them: nothing is attached to their objects.
void checkEnvoyTargets(FieldReader& spec, const PolicyTargets& named);

/// Reads `matchLabels` and `matchExpressions`. A requirement that is not legible is left out, so that after errors the
/// selector selects everything that was meant, and maybe more.
void readLabelSelector(FieldReader& reader, base::LabelSelector& selector);

/// Reads `group`, which must be given. It may be empty, which means the core group.
std::string readGroup(FieldReader& reader);
/// Reads `group`; `absent` if it is not given.
std::string readGroup(FieldReader& reader, std::string_view absent);

/// The `group` and `kind` of a reference that does not give them. With `required` the group has no default and must be
/// given.
struct RefDefaults {
  std::string_view group;
  std::string_view kind;
  bool required = false;
};

/// Reads group, kind, name and, where the API has one, namespace.
void readObjectRef(FieldReader& reader, ObjectRef& ref, const RefDefaults& defaults, bool withNamespace);
/// Reads references in rows.
struct ObjectRefFields {
  RefDefaults defaults;
  bool withNamespace;

  void operator()(FieldReader& reader, ObjectRef& ref) const { readObjectRef(reader, ref, defaults, withNamespace); }
};
inline constexpr ObjectRefFields kAnyRef{{"", "", /*required=*/true}, false};
inline constexpr ObjectRefFields kSecretRef{{"", "Secret"}, true};
/// Reads a reference to a Backend, or to a Service if it does not give the kind, and its port.
void readBackendObjectReference(FieldReader& reader, BackendObjectReference& ref);

/// Reads how often a request is tried again; 0 turns retries off. More attempts than this program ever makes are noted
/// as unsupported.
void readRetryCount(FieldReader& reader, std::string_view key, const NumberRange& range, HttpRouteRetry& retry);
/// Reads `retry` of a rule.
void readRetry(FieldReader& reader, HttpRouteRetry& retry);
/// Reads its fields with another least number of attempts.
void readRetryFields(FieldReader& reader, std::int64_t leastAttempts, HttpRouteRetry& retry);

/// Reads `sessionPersistence` of a rule of any kind of route, or of the spec of a policy.
void readSessionPersistence(FieldReader& reader, SessionPersistence& session);

}  // namespace sluice::config
