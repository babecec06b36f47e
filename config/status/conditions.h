// What the configuration's objects are told about themselves: Gateway API conditions, in the shape that each kind's
// status has.
//
// Plain values, made by compile() on the loading thread; written to /status, to `sluice validate` and to Kubernetes.
// The writer adds lastTransitionTime, because it alone knows what was there before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/model/status_shape.h"

namespace sluice::config {

namespace condition_type {
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kConflicted = "Conflicted";
inline constexpr std::string_view kOverlappingTlsConfig = "OverlappingTLSConfig";
inline constexpr std::string_view kPartiallyInvalid = "PartiallyInvalid";
inline constexpr std::string_view kSupportedVersion = "SupportedVersion";
inline constexpr std::string_view kDegraded = "Degraded";
inline constexpr std::string_view kAvailable = "Available";
}  // namespace condition_type

/// Gateway API's, and the proposal's for Backends. A test provokes each. What the API names beside these can not occur:
///
///   GatewayClass  Waiting: deprecated. Pending: the decision is made when it is read. UnsupportedVersion: of CRDs,
///   which
///                 only a cluster has.
///   Gateway       AddressNotAssigned: an address without a value means all of the machine's, and nothing is allocated
///                 that could be awaited. NoResources: what a process lacks, no single Gateway of it lacks. Ready,
///                 ListenersNotReady: reserved. Scheduled, NotReconciled: deprecated. ConfigurationChanged: of
///                 AllowInsecureFallback, which is not built; the field is answered with UnsupportedValue.
///   Listener      NoValidCACertificate, InvalidCACertificateKind: of the validation of clients, likewise. Pending: as
///                 of the GatewayClass. Attached: deprecated. Ready: reserved.
///   routes        Pending: likewise. IncompatibleFilters: the schema refuses such rules, so the object is Invalid.
///   policies      Conflicted, Overridden, NoValidCACertificate: PayloadProcessors of one target all apply, and there
///   is no
///                 other policy yet.
///
/// Whether an address that could be used is this machine's shows only when it is listened on: a whole revision that can
/// not listen is retried or rolled back (C-11), and no Gateway of it is told AddressNotUsable.
namespace reason {
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kNoConflicts = "NoConflicts";
inline constexpr std::string_view kSupportedVersion = "SupportedVersion";
inline constexpr std::string_view kUnsupported = "Unsupported";
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kInvalid = "Invalid";
inline constexpr std::string_view kInvalidParameters = "InvalidParameters";
inline constexpr std::string_view kListenersNotValid = "ListenersNotValid";
inline constexpr std::string_view kListenersNotResolved = "ListenersNotResolved";
inline constexpr std::string_view kUnsupportedAddress = "UnsupportedAddress";
inline constexpr std::string_view kAddressNotUsable = "AddressNotUsable";
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
inline constexpr std::string_view kInvalidClientCertificateRef = "InvalidClientCertificateRef";
inline constexpr std::string_view kUnsupportedExtensionType = "UnsupportedExtensionType";
inline constexpr std::string_view kUnsupportedPhase = "UnsupportedPhase";
inline constexpr std::string_view kInvalidPreAuthPhase = "InvalidPreAuthPhase";
inline constexpr std::string_view kInvalidSecretRef = "InvalidSecretRef";
inline constexpr std::string_view kInvalidExtensionRef = "InvalidExtensionRef";
inline constexpr std::string_view kTargetNotFound = "TargetNotFound";
}  // namespace reason

enum class ConditionStatus : std::uint8_t { kTrue, kFalse, kUnknown };

/// "True", "False", "Unknown".
std::string_view conditionStatusName(ConditionStatus status);

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  std::optional<std::int64_t> observedGeneration;  // the object's generation; left out if the object has none
};

/// status.listeners[] of a Gateway.
struct ListenerStatus {
  std::string name;
  std::int32_t attachedRoutes = 0;
  std::vector<RouteKind> supportedKinds;
  std::vector<Condition> conditions;
};

struct AddressStatus {
  std::string type = "IPAddress";
  std::string value;
};

/// status.parents[] of a route (or of an XBackend), which echoes the reference as it was written; status.ancestors[] of
/// a policy, whose ancestorRef is the parentRef here.
struct ParentStatus {
  ParentRef parentRef;
  std::string controllerName{kControllerName};
  std::vector<Condition> conditions;
};

/// status.controllers[] of a Backend.
struct ControllerStatus {
  std::string name{kControllerName};
  std::vector<Condition> conditions;
};

struct ObjectStatus {
  std::string group;
  std::string kind;
  std::string nameSpace;  // empty for GatewayClass
  std::string name;
  StatusShape shape = StatusShape::kConditions;
  std::vector<Condition> conditions;           // kConditions, kGateway
  std::vector<std::string> supportedFeatures;  // of a GatewayClass
  std::vector<ListenerStatus> listeners;       // kGateway
  std::vector<AddressStatus> addresses;        // kGateway
  std::vector<ParentStatus> parents;           // kParents, kAncestors
  std::vector<ControllerStatus> controllers;   // kControllers
};

/// Sets the condition of `type` in `conditions`, replacing an earlier one of that type.
void setCondition(std::vector<Condition>& conditions, Condition condition);
/// nullptr if there is none of that type.
const Condition* findCondition(const std::vector<Condition>& conditions, std::string_view type);

/// The object's `status` as JSON.
std::string statusJson(const ObjectStatus& object);
/// {"kind", "namespace", "name", "status"}: an element of /status.
std::string objectStatusJson(const ObjectStatus& object);
/// For people: the object's name, then one line per condition, columns aligned within the object. Ends with a newline.
std::string statusText(const ObjectStatus& object);

/// True if nothing that the object says of itself is bad: every Accepted, Programmed and ResolvedRefs is True, and no
/// Conflicted, PartiallyInvalid or Degraded is.
bool isHealthy(const ObjectStatus& object);

}  // namespace sluice::config
