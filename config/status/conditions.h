// Defines the conditions (Gateway API) of the configuration's objects, in the form of each kind's status.
//
// These are plain values. compile() makes them on the loading thread, and they are written to /status, to `sluice
// validate` and to Kubernetes. carryHistory() adds the parts that depend on earlier conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/finding.h"
#include "config/model/model.h"
#include "config/model/status_shape.h"
#include "proxy/base/clock.h"

namespace sluice::config {

namespace condition_type {
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kConflicted = "Conflicted";
inline constexpr std::string_view kOverlappingTlsConfig = "OverlappingTLSConfig";
inline constexpr std::string_view kPartiallyInvalid = "PartiallyInvalid";
inline constexpr std::string_view kPartiallyVisible = "PartiallyVisible";
inline constexpr std::string_view kSupportedVersion = "SupportedVersion";
inline constexpr std::string_view kInsecureFrontendValidationMode = "InsecureFrontendValidationMode";
inline constexpr std::string_view kDegraded = "Degraded";
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kProgressing = "Progressing";
/// Conditions of this project that a controller writes on a Gateway whose Pods it keeps.
inline constexpr std::string_view kProvisioned = "sluice.dev/Provisioned";
inline constexpr std::string_view kPodsAvailable = "sluice.dev/Available";
inline constexpr std::string_view kRolledBack = "sluice.dev/RolledBack";
}  // namespace condition_type

/// The reasons of Gateway API, of the proposal for Backends, and of this project (Completed, Unreachable, Unhealthy). A
/// test provokes each of them. The API's other reasons cannot occur:
///
/// - GatewayClass: Waiting is deprecated. Pending cannot occur, since the class is decided when it is read.
/// - Gateway: AddressNotAssigned occurs only with an address pool (--address-pool) whose addresses are all in use.
///   Without a pool, an address without a value means all addresses of the machine. NoResources occurs only where a
///   controller runs the Pods of a Gateway, and none of them serves. Ready and ListenersNotReady are reserved.
///   Scheduled and NotReconciled are deprecated.
/// - Listener: Pending cannot occur, as for the GatewayClass. Attached is deprecated. Ready is reserved.
/// - Routes: Pending cannot occur, as for the GatewayClass. IncompatibleFilters cannot occur, because the schema
///   refuses such rules and the object is Invalid.
/// - Policies: Overridden cannot occur. An EnvoyExtensionPolicy, TrafficPolicy or BackendTrafficPolicy still takes
///   effect for rules without one of their own, a BackendTLSPolicy for ports, and a ClientTrafficPolicy for listeners.
///   All PayloadProcessors of one target apply. Policies of other kinds are not supported, and are Invalid.
///
/// The process finds out whether it can listen on an address and port only when it tries. If it cannot, the Gateway
/// gets AddressNotUsable, and a listener that has no other address gets PortUnavailable.
namespace reason {
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kCompleted = "Completed";
inline constexpr std::string_view kUnreachable = "Unreachable";
inline constexpr std::string_view kUnhealthy = "Unhealthy";
inline constexpr std::string_view kNoConflicts = "NoConflicts";
inline constexpr std::string_view kSupportedVersion = "SupportedVersion";
inline constexpr std::string_view kUnsupported = "Unsupported";
inline constexpr std::string_view kUnsupportedVersion = "UnsupportedVersion";
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kInvalid = "Invalid";
inline constexpr std::string_view kInvalidParameters = "InvalidParameters";
inline constexpr std::string_view kListenersNotValid = "ListenersNotValid";
inline constexpr std::string_view kListenersNotResolved = "ListenersNotResolved";
inline constexpr std::string_view kUnsupportedAddress = "UnsupportedAddress";
inline constexpr std::string_view kAddressNotUsable = "AddressNotUsable";
inline constexpr std::string_view kAddressNotAssigned = "AddressNotAssigned";
inline constexpr std::string_view kConfigurationChanged = "ConfigurationChanged";
inline constexpr std::string_view kPortUnavailable = "PortUnavailable";
inline constexpr std::string_view kUnsupportedProtocol = "UnsupportedProtocol";
inline constexpr std::string_view kInvalidCertificateRef = "InvalidCertificateRef";
inline constexpr std::string_view kInvalidRouteKinds = "InvalidRouteKinds";
inline constexpr std::string_view kRefNotPermitted = "RefNotPermitted";
inline constexpr std::string_view kHostnameConflict = "HostnameConflict";
inline constexpr std::string_view kProtocolConflict = "ProtocolConflict";
inline constexpr std::string_view kOverlappingHostnames = "OverlappingHostnames";
inline constexpr std::string_view kOverlappingCertificates = "OverlappingCertificates";
inline constexpr std::string_view kNotAllowedByListeners = "NotAllowedByListeners";
inline constexpr std::string_view kNoMatchingListenerHostname = "NoMatchingListenerHostname";
inline constexpr std::string_view kNoMatchingParent = "NoMatchingParent";
inline constexpr std::string_view kUnsupportedValue = "UnsupportedValue";
inline constexpr std::string_view kInvalidKind = "InvalidKind";
inline constexpr std::string_view kBackendNotFound = "BackendNotFound";
inline constexpr std::string_view kInvalidCaCertificateRef = "InvalidCACertificateRef";
inline constexpr std::string_view kInvalidCaCertificateKind = "InvalidCACertificateKind";
inline constexpr std::string_view kNoValidCaCertificate = "NoValidCACertificate";
inline constexpr std::string_view kInvalidClientCertificateRef = "InvalidClientCertificateRef";
inline constexpr std::string_view kUnsupportedExtensionType = "UnsupportedExtensionType";
inline constexpr std::string_view kUnsupportedPhase = "UnsupportedPhase";
inline constexpr std::string_view kInvalidPreAuthPhase = "InvalidPreAuthPhase";
inline constexpr std::string_view kInvalidSecretRef = "InvalidSecretRef";
inline constexpr std::string_view kExtensionActive = "ExtensionActive";
inline constexpr std::string_view kExtensionPending = "ExtensionPending";
inline constexpr std::string_view kExtensionUnavailable = "ExtensionUnavailable";
inline constexpr std::string_view kInvalidExtensionRef = "InvalidExtensionRef";
inline constexpr std::string_view kTargetNotFound = "TargetNotFound";
inline constexpr std::string_view kConflicted = "Conflicted";
inline constexpr std::string_view kUnsupportedRule = "UnsupportedRule";
}  // namespace reason

enum class ConditionStatus : std::uint8_t { kTrue, kFalse, kUnknown };

/// Returns "True", "False" or "Unknown".
std::string_view conditionStatusName(ConditionStatus status);

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  std::optional<std::int64_t> observedGeneration;  // the object's generation; absent if it has none
  std::optional<base::WallTime> lastTransitionTime = std::nullopt;
  /// The parts of the message, each about one field. They are empty if the condition only sums up other conditions.
  /// They are not part of the status.
  std::vector<Finding> findings = {};
};

/// The model of status.listeners[] of a Gateway.
struct ListenerStatus {
  std::string name;
  std::int32_t attachedRoutes = 0;
  std::vector<RouteKind> supportedKinds;
  std::vector<Condition> conditions;
};

struct AddressStatus {
  std::string type = "IPAddress";
  std::string value;

  bool operator==(const AddressStatus&) const = default;
};

/// The model of status.parents[] of a route or an XBackend, and of status.ancestors[] of a policy. The reference is
/// repeated as it was written. The ancestorRef of a policy is stored in parentRef.
struct ParentStatus {
  ParentRef parentRef;
  std::string_view controllerName = kControllerName;  // a constant
  std::vector<Condition> conditions;
};

/// The model of status.controllers[] of a Backend.
struct ControllerStatus {
  std::string name{kControllerName};
  std::vector<Condition> conditions;
};

struct ObjectStatus {
  std::string_view group;  // as in the table of kinds
  std::string_view kind;
  std::string nameSpace;  // empty for GatewayClass
  std::string name;
  StatusShape shape = StatusShape::kConditions;
  std::vector<Condition> conditions;           // kConditions, kGateway
  std::vector<std::string> supportedFeatures;  // set for a GatewayClass
  std::vector<ListenerStatus> listeners;       // kGateway
  std::vector<AddressStatus> addresses;        // kGateway
  std::vector<ParentStatus> parents;           // kParents, kAncestors
  std::vector<ControllerStatus> controllers;   // kControllers
  std::string revision;                        // revision of the object as written; empty if unknown
  std::string servedRevision;                  // revision of the version that is served; empty if none is
  std::optional<base::WallTime> servedSince = std::nullopt;
  std::int64_t changes = 0;  // the number of versions that the process has seen
};

/// Sets a condition in `conditions`, and replaces an earlier condition of its type.
void setCondition(std::vector<Condition>& conditions, Condition condition);
/// Returns nullptr if there is no condition of that type.
const Condition* findCondition(const std::vector<Condition>& conditions, std::string_view type);

/// Calls `visit` with each condition of the object.
template <typename Visit>
void forEachCondition(const ObjectStatus& object, Visit visit) {
  const auto visitAll = [&visit](const std::vector<Condition>& conditions) {
    for (const Condition& each : conditions) visit(each);
  };
  visitAll(object.conditions);
  for (const ListenerStatus& each : object.listeners) visitAll(each.conditions);
  for (const ParentStatus& each : object.parents) visitAll(each.conditions);
  for (const ControllerStatus& each : object.controllers) visitAll(each.conditions);
}
/// Returns all conditions of the object with their places: "", "listener web", "parent demo/egress".
std::vector<std::pair<std::string, const std::vector<Condition>*>> conditionsOf(const ObjectStatus& object);
/// Returns the conditions at one of these places; null if the object has no such place.
std::vector<Condition>* conditionsAt(ObjectStatus& object, std::string_view place);
/// Returns "HTTPRoute demo/web".
std::string objectName(const ObjectStatus& object);

/// Returns the object's `status` in the form of the API.
Value statusValue(const ObjectStatus& object);
std::string statusJson(const ObjectStatus& object);
/// Returns {"group", "kind", "namespace", "name", "status", "servedRevision", "servedSince"}, which is an element of
/// /status. The last two are left out if they are not known.
Value objectStatusValue(const ObjectStatus& object);
std::string objectStatusJson(const ObjectStatus& object);
/// Returns a text for people: the name and group of the object, then one line for each condition, with aligned columns.
/// It ends with a newline.
std::string statusText(const ObjectStatus& object);

/// Returns true for types such as Degraded, which report a fault when they are True.
bool isNegative(std::string_view type);
/// Returns true if a condition of that type and status ("True") reports a problem. Progressing never does: the other
/// conditions have the fault that will pass.
bool isTrouble(std::string_view type, std::string_view status);
/// Returns true if no condition of the object is bad: every Accepted, Programmed and ResolvedRefs is True, and no
/// Conflicted, PartiallyInvalid or Degraded is.
bool isHealthy(const ObjectStatus& object);
/// Returns true if the condition reports a Backend that does not serve, which is not a fault of the configuration.
bool isOutage(const Condition& condition);
/// Returns true for reasons that depend on the process: on the Backends and servers that it reaches, the addresses
/// where it can listen, and the Secrets that it may read. Other processes with the same objects may find no such fault.
bool dependsOnProcess(std::string_view reason);

}  // namespace sluice::config
