// One reader per kind: a document's fields -> a typed object. What is wrong goes to the FieldReader's context; nothing
// throws.
//
// `root` is the document; its apiVersion, kind, metadata and status are known to it already, and load() finishes it. An
// object whose context saw errors is not to be served: load() decides so.
#pragma once

#include <optional>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

struct ObjectKind;

ObjectMeta readMeta(FieldReader& root, const ObjectKind& kind);

GatewayClass readGatewayClass(FieldReader& root, ObjectMeta meta);
/// After errors: what is legible, if its listeners can answer for it (see Rejected); else nullopt.
std::optional<Gateway> readGateway(FieldReader& root, ObjectMeta meta);
/// Likewise.
std::optional<HttpRoute> readHttpRoute(FieldReader& root, ObjectMeta meta);
std::optional<GrpcRoute> readGrpcRoute(FieldReader& root, ObjectMeta meta);
ReferenceGrant readReferenceGrant(FieldReader& root, ObjectMeta meta);
ConfigMap readConfigMap(FieldReader& root, ObjectMeta meta);
Namespace readNamespace(FieldReader& root, ObjectMeta meta);
SecretObject readSecret(FieldReader& root, ObjectMeta meta);
Service readService(FieldReader& root, ObjectMeta meta);
EndpointSlice readEndpointSlice(FieldReader& root, ObjectMeta meta);
/// gateway.networking.k8s.io/v1alpha1 Backend, as the proposal first spelled it (E-40..E-47) and as it did later
/// (E-51..E-55).
Backend readBackendSeed(FieldReader& root, ObjectMeta meta);
/// ainetworking.prototype.x-k8s.io/v0alpha0 Backend and XBackendDestination: the later form as the prototype's CRDs
/// have it.
Backend readPrototypeBackend(FieldReader& root, ObjectMeta meta);
/// sluice.dev/v1alpha1 Backend: both forms of the proposal, and `tls.options` (E-57).
Backend readOwnBackend(FieldReader& root, ObjectMeta meta);
/// gateway.networking.x-k8s.io/v1alpha1 XBackend.
Backend readXBackend(FieldReader& root, ObjectMeta meta);
/// sluice.dev/v1alpha1 PayloadProcessor, and gateway.networking.k8s.io/v1alpha1 as GEP-5091 drafts it: the same fields.
/// After errors: what is legible, if its target is; else nullopt.
std::optional<PayloadProcessor> readPayloadProcessor(FieldReader& root, ObjectMeta meta);
/// PayloadProcessingPipeline, of both groups likewise.
PayloadProcessingPipeline readPipeline(FieldReader& root, ObjectMeta meta);

// Parts that several kinds share.

/// `matchLabels` and `matchExpressions`; finishes `reader`.
LabelSelector readLabelSelector(FieldReader reader);

/// What a reference's `group` and `kind` are if they are not given. A group that must be given has no default:
/// `required`.
struct RefDefaults {
  std::string_view group;
  std::string_view kind;
  bool required = false;
};

/// group, kind, name and, where the API has one, namespace. Does not finish `reader`: the holder may have more fields.
ObjectRef readObjectRef(FieldReader& reader, const RefDefaults& defaults, bool withNamespace);
std::vector<ObjectRef> readObjectRefs(FieldReader& reader, std::string_view key, std::size_t maxItems,
                                      const RefDefaults& defaults, bool withNamespace);

std::vector<HttpRouteMatch> readHttpMatches(FieldReader& rule);

/// `retry` of a rule; more attempts than are ever made are noted in `unbuilt`.
std::optional<Retry> readRetry(FieldReader& rule, std::vector<Unbuilt>& unbuilt);

/// `sessionPersistence` of a rule of any kind of route.
std::optional<SessionPersistence> readSessionPersistence(FieldReader& rule);

}  // namespace sluice::config
