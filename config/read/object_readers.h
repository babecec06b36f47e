// One reader for each kind: it turns a document's fields into a typed object. Problems go to the FieldReader's context;
// nothing throws.
//
// `root` is the document. Its apiVersion, kind, metadata and status are already marked as known, and load() calls
// finish() on it. load() does not serve an object whose context has errors.
#pragma once

#include <optional>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/gateway_parameters.h"
#include "config/model/model.h"

namespace sluice::config {

struct ObjectKind;

ObjectMeta readMeta(FieldReader& root, const ObjectKind& kind);

GatewayClass readGatewayClass(FieldReader& root, ObjectMeta meta);
/// Returns, after errors, the legible part if its listeners can still answer requests (see Rejected); else nullopt.
std::optional<Gateway> readGateway(FieldReader& root, ObjectMeta meta);
/// Returns, after errors, the legible part if its hostnames are legible; else nullopt.
std::optional<HttpRoute> readHttpRoute(FieldReader& root, ObjectMeta meta);
std::optional<GrpcRoute> readGrpcRoute(FieldReader& root, ObjectMeta meta);
ReferenceGrant readReferenceGrant(FieldReader& root, ObjectMeta meta);
/// Returns, after errors, what could be read, because it may name others.
std::optional<ConfigMap> readConfigMap(FieldReader& root, ObjectMeta meta);
Namespace readNamespace(FieldReader& root, ObjectMeta meta);
SecretObject readSecret(FieldReader& root, ObjectMeta meta);
Service readService(FieldReader& root, ObjectMeta meta);
EndpointSlice readEndpointSlice(FieldReader& root, ObjectMeta meta);
/// Reads gateway.networking.k8s.io/v1alpha1 Backend, both in the proposal's first form and in its later one.
Backend readBackendSeed(FieldReader& root, ObjectMeta meta);
/// Reads ainetworking.prototype.x-k8s.io/v0alpha0 Backend and XBackendDestination: the later form as the prototype's
/// CRDs define it.
Backend readPrototypeBackend(FieldReader& root, ObjectMeta meta);
/// Reads sluice.dev/v1alpha1 Backend: both forms of the proposal, and `tls.options`.
Backend readOwnBackend(FieldReader& root, ObjectMeta meta);
/// Reads gateway.envoyproxy.io/v1alpha1 Backend.
Backend readEnvoyBackend(FieldReader& root, ObjectMeta meta);
/// Reads gateway.networking.x-k8s.io/v1alpha1 XBackend.
Backend readXBackend(FieldReader& root, ObjectMeta meta);
/// Reads sluice.dev/v1alpha1 PayloadProcessor, gateway.networking.k8s.io/v1alpha1 as GEP-5091 drafts it, with the same
/// fields, and ainetworking.x-k8s.io/v0alpha0, which spells its processors in another way. Returns, after errors, the
/// legible part if the name of its target is legible; else nullopt.
std::optional<PayloadProcessor> readPayloadProcessor(FieldReader& root, ObjectMeta meta);
/// Reads PayloadProcessingPipeline of either group.
PayloadProcessingPipeline readPipeline(FieldReader& root, ObjectMeta meta);
/// Reads ainetworking.prototype.x-k8s.io/v0alpha0 XPayloadProcessor.
PayloadProcessingPipeline readXPayloadProcessor(FieldReader& root, ObjectMeta meta);
/// Reads gateway.envoyproxy.io/v1alpha1 EnvoyExtensionPolicy. Returns, after errors, the legible part if it says what
/// it targets; else nullopt.
std::optional<ExtensionPolicy> readExtensionPolicy(FieldReader& root, ObjectMeta meta);
/// Reads sluice.dev/v1alpha1 GatewayParameters.
GatewayParameters readGatewayParameters(FieldReader& root, ObjectMeta meta);
/// Reads the fields of its spec, and calls finish() on `spec`.
void readParameterFields(FieldReader spec, GatewayParameters& parameters);
/// Reads sluice.dev/v1alpha1 TrafficPolicy. Returns, after errors, the legible part if it says what it targets; else
/// nullopt.
std::optional<TrafficPolicy> readTrafficPolicy(FieldReader& root, ObjectMeta meta);
/// How the fields of an active health check in another spelling differ from those of a TrafficPolicy.
struct OtherCheckFields {
  bool isOwn = false;                                          // there are unhealthyInterval, port and tls
  std::span<const std::string_view> withoutEffectOfHttp = {};  // of `http`; they are noted
};
/// Reads an active health check, in the spelling that Envoy Gateway and this program share.
ActiveHealthSettings readActiveCheck(FieldReader reader, const OtherCheckFields& others,
                                     std::vector<UnsupportedField>& unsupported);
/// Reads the fields of a TrafficPolicy that a Backend may have too, from the spec of either.
void readBackendTraffic(FieldReader& spec, BackendTraffic& traffic, std::vector<UnsupportedField>& unsupported);
/// Reads gateway.envoyproxy.io/v1alpha1 BackendTrafficPolicy in either of its forms. Returns, after errors, the legible
/// part if it says what it targets; else nullopt.
std::optional<TrafficPolicy> readBackendTrafficPolicy(FieldReader& root, ObjectMeta meta);
/// Reads gateway.networking.x-k8s.io/v1alpha1 XBackendTrafficPolicy. Returns, after errors, the legible part if it says
/// what it targets; else nullopt.
std::optional<TrafficPolicy> readXBackendTrafficPolicy(FieldReader& root, ObjectMeta meta);
/// Reads gateway.networking.k8s.io BackendTLSPolicy. Returns, after errors, the legible part if it says what it
/// targets; else nullopt.
std::optional<BackendTlsPolicy> readBackendTlsPolicy(FieldReader& root, ObjectMeta meta);
/// Reads what a policy of another API names, and warns that its kind is not supported. Returns, after errors, what is
/// legible of that; else nullopt.
std::optional<UnsupportedPolicy> readUnsupportedPolicy(FieldReader& root, ObjectMeta meta);

/// Reads gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy, which closes what it names if it restricts clients.
std::optional<UnsupportedPolicy> readClientTrafficPolicy(FieldReader& root, ObjectMeta meta);

// The functions below read parts that several kinds share.

inline constexpr std::size_t kMaxPolicyTargets = 16;
/// Reads one target into `named`, as far as it is legible.
void readPolicyTarget(FieldReader reader, PolicyTargets& named);
/// Reads `targetRefs` of a policy, which are required.
PolicyTargets readTargetRefs(FieldReader& spec);
/// Reads `targetRefs`, the older `targetRef`, and `targetSelectors` of a policy, one of which is required.
PolicyTargets readPolicyTargets(FieldReader& spec);
/// Returns true for a Backend of any spelling, and for a Service.
bool isBackendTarget(const PolicyTarget& target);
/// Reports targets and selectors of kinds that policies of Envoy Gateway cannot have. Kinds that are known and not
/// served are none of them: nothing is attached to their objects.
void checkEnvoyTargets(FieldReader& spec, const PolicyTargets& named);

/// Reads `matchLabels` and `matchExpressions`, and calls finish() on `reader`. A requirement that is not legible is
/// left out, so that after errors the selector selects everything that was meant, and maybe more.
base::LabelSelector readLabelSelector(FieldReader reader);

/// The `group` and `kind` of a reference that does not give them. With `required` the group has no default and must be
/// given.
struct RefDefaults {
  std::string_view group;
  std::string_view kind;
  bool required = false;
};

/// Reads group, kind, name and, where the API has one, namespace. It does not call finish() on `reader`, because the
/// holder may have more fields.
ObjectRef readObjectRef(FieldReader& reader, const RefDefaults& defaults, bool withNamespace);
std::vector<ObjectRef> readObjectRefs(FieldReader& reader, std::string_view key, std::size_t maxItems,
                                      const RefDefaults& defaults, bool withNamespace);

/// Reads `retry` of a rule. More attempts than this program ever makes are noted in `unsupported`.
std::optional<HttpRouteRetry> readRetry(FieldReader& rule, std::vector<UnsupportedField>& unsupported);
/// Reads its fields, and leaves finish() to the caller.
void readRetryFields(FieldReader& reader, std::int64_t leastAttempts, HttpRouteRetry& retry,
                     std::vector<UnsupportedField>& unsupported);

/// Reads `sessionPersistence` of a rule of any kind of route, or of the spec of a policy.
std::optional<SessionPersistence> readSessionPersistence(FieldReader& holder);

}  // namespace sluice::config
