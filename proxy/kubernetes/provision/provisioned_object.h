// The objects that the controller keeps for a Gateway: those of its Pods, and those that grant rights to these. All are
// Kubernetes' own kinds, which the configuration's table of kinds does not have.
//
// Values; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::kubernetes {

/// One of the kinds of objects that are provisioned.
struct ProvisionedKind {
  std::string_view group;  // empty: the core group
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = true;

  /// Returns "v1" or "apps/v1".
  std::string apiVersion() const;
  /// Returns the path of its objects in that namespace, or of all if it is empty.
  std::string path(std::string_view nameSpace = {}) const;
};

namespace provisioned {

inline constexpr ProvisionedKind kSecret{"", "v1", "Secret", "secrets"};
inline constexpr ProvisionedKind kServiceAccount{"", "v1", "ServiceAccount", "serviceaccounts"};
inline constexpr ProvisionedKind kRole{"rbac.authorization.k8s.io", "v1", "Role", "roles"};
inline constexpr ProvisionedKind kRoleBinding{"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"};
inline constexpr ProvisionedKind kClusterRoleBinding{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                                     "clusterrolebindings", false};
/// The installation has it; the controller only reads it.
inline constexpr ProvisionedKind kClusterRole{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false};
inline constexpr ProvisionedKind kNetworkPolicy{"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"};
inline constexpr ProvisionedKind kService{"", "v1", "Service", "services"};
inline constexpr ProvisionedKind kDisruptionBudget{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"};
inline constexpr ProvisionedKind kDeployment{"apps", "v1", "Deployment", "deployments"};
inline constexpr ProvisionedKind kAutoscaler{"autoscaling", "v2", "HorizontalPodAutoscaler",
                                             "horizontalpodautoscalers"};

}  // namespace provisioned

/// Returns true for kinds that grant rights to Pods, which are not parts of the Pods themselves.
bool isAccess(const ProvisionedKind& kind);
/// Returns true for kinds without which a Gateway's Pods would run with fewer rights, or without keys.
bool isNeededByPods(const ProvisionedKind& kind);
/// Returns all kinds, in the order in which their objects are applied: objects that Pods need come before them.
std::span<const ProvisionedKind* const> provisionedKinds();

struct ProvisionedObject {
  const ProvisionedKind* kind = nullptr;
  std::string nameSpace = {};  // empty for kinds without a namespace
  std::string name;
  std::string body;  // JSON, as it is applied
  /// The Gateway for which it is kept, as events name it ("Gateway demo/egress").
  std::string gateway = {};
  /// The uid of the Gateway, if that owns the object: it does in its own namespace. Else empty.
  std::string owner = {};
  /// True if an existing object is kept up to date, but a missing one is not created.
  bool onlyIfThere = false;
  /// True for a Deployment whose number of Pods an autoscaler chooses, so that the body has none.
  bool isCountedByOthers = false;

  std::string path() const { return kind->path(nameSpace) + "/" + name; }
  /// Returns true if it is in another namespace than the Gateway.
  bool isElsewhere() const;
};

/// The ClusterRole of all Gateways, a part of the installation.
inline constexpr std::string_view kGatewayClusterRole = "sluice-gateway";
/// The label and its value by which the controller finds its objects.
inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedBy = "sluice-controller";
/// The label that tells the Pods of a Gateway from those of others; its value is the name of their Deployment.
inline constexpr std::string_view kPodsLabel = "app.kubernetes.io/instance";
/// The labels that name the Gateway for which an object is kept.
inline constexpr std::string_view kGatewayNameLabel = "gateway.networking.k8s.io/gateway-name";
inline constexpr std::string_view kGatewayNamespaceLabel = "sluice.dev/gateway-namespace";

}  // namespace sluice::kubernetes
