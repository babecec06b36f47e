// Declares one reader for each line in the table of kinds. It converts the fields of a document into a typed object,
// whose metadata was set before. Problems go to the FieldReader's context, and nothing throws. An object whose context
// has errors is not served.
//
// `spec` is the map of that name. `root` is the document; kinds with more than a spec are read from it. The table of
// kinds (object_kinds.cc) calls finish() on both. The readable part of a refused policy is kept if it has targets. A
// reader for another kind returns whether the readable part of an object is useful after errors, or returns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/client_traffic_policy.h"
#include "config/model/egress_policy.h"
#include "config/model/gateway_parameters.h"
#include "config/model/model.h"

namespace sluice::config {

struct ObjectKind;

ObjectMeta readMeta(FieldReader& root, const ObjectKind& kind);

void readGatewayClass(FieldReader& spec, GatewayClass& gatewayClass);
/// The readable part is useful if its listeners can still answer requests (see Rejected).
bool readGateway(FieldReader& spec, Gateway& gateway);
/// The readable part is useful if its hostnames could be read.
bool readHttpRoute(FieldReader& spec, HttpRoute& route);
bool readGrpcRoute(FieldReader& spec, GrpcRoute& route);
void readReferenceGrant(FieldReader& spec, ReferenceGrant& grant);
/// The readable part is useful, because it may contain references to other objects.
bool readConfigMap(FieldReader& root, ConfigMap& configMap);
void readNamespace(FieldReader& root, Namespace& object);
void readSecret(FieldReader& root, SecretObject& secret);
void readService(FieldReader& root, Service& service);
void readEndpointSlice(FieldReader& root, EndpointSlice& slice);
/// Reads a Backend of gateway.networking.k8s.io/v1alpha1, in the proposal's first form and in its later one.
void readBackendSeed(FieldReader& spec, Backend& backend);
/// Reads a Backend or XBackendDestination of ainetworking.prototype.x-k8s.io/v0alpha0, in the later form as the
/// prototype's CRDs define it.
void readPrototypeBackend(FieldReader& spec, Backend& backend);
/// Reads a Backend of sluice.dev/v1alpha1, in both forms of the proposal and with `tls.options`.
void readOwnBackend(FieldReader& spec, Backend& backend);
void readEnvoyBackend(FieldReader& spec, Backend& backend);
void readXBackend(FieldReader& spec, Backend& backend);
/// Reads the PayloadProcessors of three groups. sluice.dev/v1alpha1 and gateway.networking.k8s.io/v1alpha1 (a draft in
/// GEP-5091) have the same fields. ainetworking.x-k8s.io/v0alpha0 spells its processors in another way.
void readPayloadProcessor(FieldReader& spec, PayloadProcessor& processor);
void readPipeline(FieldReader& spec, PayloadProcessingPipeline& pipeline);
void readXPayloadProcessor(FieldReader& spec, PayloadProcessingPipeline& pipeline);
void readExtensionPolicy(FieldReader& spec, ExtensionPolicy& policy);
void readGatewayParameters(FieldReader& root, GatewayParameters& parameters);
/// Reads the fields of the spec of a GatewayParameters of sluice.dev/v1alpha1.
void readParameterFields(FieldReader& spec, GatewayParameters& parameters);
void readTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
void readEgressPolicy(FieldReader& spec, EgressPolicy& policy);
/// Reads a BackendTrafficPolicy of Envoy Gateway in either of its forms.
void readBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
void readXBackendTrafficPolicy(FieldReader& spec, TrafficPolicy& policy);
void readBackendTlsPolicy(FieldReader& spec, BackendTlsPolicy& policy);
/// Reads the targets of a policy of another API, and warns that its kind is not supported.
void readUnsupportedPolicy(FieldReader& root, UnsupportedPolicy& policy);
/// Reads a ClientTrafficPolicy of gateway.envoyproxy.io/v1alpha1, which closes its targets if it restricts clients by
/// more than their certificates.
void readClientTrafficPolicy(FieldReader& root, ClientTrafficPolicy& policy);

// The functions below read parts that several kinds share.

/// The differences between the active health check of another spelling and that of a TrafficPolicy.
struct OtherCheckFields {
  bool isOwn = false;                                          // it has unhealthyInterval, port and tls
  std::span<const std::string_view> withoutEffectOfHttp = {};  // fields of `http`, which are noted
};
/// Reads an active health check in the spelling that Envoy Gateway and this program have in common.
void readActiveCheck(FieldReader& reader, const OtherCheckFields& others, ActiveHealthSettings& active);
/// Reads the fields that both a TrafficPolicy and a Backend may have, from the spec of either.
void readBackendTraffic(FieldReader& spec, BackendTraffic& traffic);

inline constexpr std::size_t kMaxPolicyTargets = 16;
/// Reads one target into `named`, as far as it can be read.
void readPolicyTarget(FieldReader reader, PolicyTargets& named);
/// Reads `targetRefs` of a policy, which are required.
void readTargetRefs(FieldReader& spec, PolicyTargets& named);
/// Reads `targetRefs`, the older `targetRef`, and `targetSelectors` of a policy. One of them is required.
void readPolicyTargets(FieldReader& spec, PolicyTargets& named);
/// Returns true for a Backend of any spelling, and for a Service.
bool isBackendTarget(const PolicyTarget& target);
/// Reports targets and selectors of kinds that policies of Envoy Gateway cannot have. Kinds that are known and not
/// supported are not reported, because nothing is attached to their objects.
void checkEnvoyTargets(FieldReader& spec, const PolicyTargets& named);

/// Reads `matchLabels` and `matchExpressions`. A requirement that cannot be read is left out. So after errors the
/// selector selects at least every object that was meant.
void readLabelSelector(FieldReader& reader, base::LabelSelector& selector);

/// Reads `group`, which is required. It may be empty, which means the core group.
std::string readGroup(FieldReader& reader);
/// Reads `group`; the default is `absent`.
std::string readGroup(FieldReader& reader, std::string_view absent);

/// The default `group` and `kind` of a reference. With `required`, the group has no default and must be present.
struct RefDefaults {
  std::string_view group;
  std::string_view kind;
  bool required = false;
};

/// Reads group, kind and name, and the namespace if the API has one.
void readObjectRef(FieldReader& reader, ObjectRef& ref, const RefDefaults& defaults, bool withNamespace);
/// Reads references as rows of a FieldReader.
struct ObjectRefFields {
  RefDefaults defaults;
  bool withNamespace;

  void operator()(FieldReader& reader, ObjectRef& ref) const { readObjectRef(reader, ref, defaults, withNamespace); }
};
inline constexpr ObjectRefFields kAnyRef{{"", "", /*required=*/true}, false};
inline constexpr ObjectRefFields kSecretRef{{"", "Secret"}, true};
/// Reads a reference to a Backend, or to a Service if it has no kind, and its port.
void readBackendObjectReference(FieldReader& reader, BackendObjectReference& ref);

/// Reads the number of attempts; 0 turns retries off. If the number exceeds the limit of this program, the field is
/// noted as unsupported.
void readRetryCount(FieldReader& reader, std::string_view key, const NumberRange& range, HttpRouteRetry& retry);
/// Reads `retry` of a rule.
void readRetry(FieldReader& reader, HttpRouteRetry& retry);
/// Reads the fields of a retry with another minimum of attempts.
void readRetryFields(FieldReader& reader, std::int64_t leastAttempts, HttpRouteRetry& retry);

/// Reads `sessionPersistence` of a rule of any kind of route, or of the spec of a policy.
void readSessionPersistence(FieldReader& reader, SessionPersistence& session);

}  // namespace sluice::config
