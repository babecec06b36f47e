// An EgressRevision (sluice.dev/v1alpha1) keeps the objects that a Gateway's replicas got, under the name by which
// replicas report them (revised_objects.h). So an earlier configuration can be inspected and restored even if no Pod is
// left that has served it.
//
// The replica that sees a revision first creates the object; the controller writes its status; people set spec.active.
// Pods of other Gateways of the namespace may create objects too. So an object is used only if it has the name of its
// Gateway and revision. It cannot be active before the controller has written its status, which no Pod may write, and
// the controller does that only if a replica of the Gateway reports the revision. Its content is served only if it has
// the digest in its name.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/objects/api_object.h"

namespace sluice::kubernetes {

inline constexpr std::string_view kEgressRevisionKind = "EgressRevision";
/// Returns "/apis/sluice.dev/v1alpha1/namespaces/NAMESPACE/egressrevisions", or without a namespace the path of all.
std::string egressRevisionsPath(std::string_view nameSpace = {});

/// The Gateway to which the replicas belong.
struct RevisedGateway {
  std::string apiVersion;  // "gateway.networking.k8s.io/v1"
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::string uid;
};

enum class RevisionState : std::uint8_t {
  kPending,       // no replica serves it yet
  kPartlyServed,  // some do
  kServed,        // all do
  kRefused,       // some replicas refuse it
  kTainted,       // all replicas have refused it: it is not served again until the object is deleted
  kSuperseded     // it was served, and is not any more
};
/// Returns "Pending" and so on.
std::string_view revisionStateName(RevisionState state);

/// What a replica does with a revision: it serves it (kServed), refuses it (kRefused), or does not serve it yet
/// (kPending).
struct RevisedReplica {
  std::string name;
  RevisionState state = RevisionState::kPending;
  std::string reason;
  std::string since;  // when the controller has first seen that state: a metav1.Time
};

/// The reasons of the condition ResourcesInSync: whether the objects that replicas got last are those of the revision,
/// and are served.
namespace revision_sync {
inline constexpr std::string_view kPublished = "DesiredVersionPublished";  // the condition is True
inline constexpr std::string_view kRefused = "CantPublishDesiredVersion";
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kNotDesired = "NotDesired";
}  // namespace revision_sync

/// The reasons of the condition RollbackFailed.
namespace revision_rollback {
inline constexpr std::string_view kAllTainted = "AllRevisionsTainted";  // the condition is True
inline constexpr std::string_view kRecovered = "Recovered";             // it was True
inline constexpr std::string_view kNotFailed = "NotFailed";
}  // namespace revision_rollback

struct EgressRevision {
  static constexpr std::size_t kMostMessageBytes = 1024;
  static constexpr std::size_t kMostSecrets = 1024;
  static constexpr std::size_t kMostReplicas = 50;

  std::string nameSpace;
  std::string name;
  std::string uid;
  std::string created;   // metadata.creationTimestamp; texts of this form compare as times
  bool deleted = false;  // it is being deleted, and a finalizer keeps it
  std::string gatewayKind;
  std::string gateway;  // its name
  std::string revision;
  std::string data;     // empty if the objects are too large to be kept, or if it was not read
  bool judged = false;  // the controller has written its status
  bool active = false;  // the replicas serve it in place of the newest objects; false if it is not judged
  /// The replica that serves it before all others, until it is validated; empty if all serve it at once.
  std::string canary;
  bool validated = false;  // the canary has served it
  RevisionState state = RevisionState::kPending;
  std::string served;      // "2/3"
  std::string lastServed;  // a metav1.Time; empty if it was never served
  std::string message;     // why it is refused or tainted, at most kMostMessageBytes
  std::string sync{revision_sync::kNotDesired};
  std::string rollback{revision_rollback::kNotFailed};
  /// The replicas that serve it or got it last, at most kMostReplicas, those that refuse it first. `served` counts them
  /// all.
  std::vector<RevisedReplica> replicas;
  /// The Secrets that the Gateway's Pods could read while this was the newest revision, at most kMostSecrets.
  std::set<ApiObjectKey> secrets;
  /// The status and lastTransitionTime of each condition that it has.
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> conditions;

  ApiObjectKey key() const { return {nameSpace, name}; }
  /// Returns true if a replica serves it or has served it, as the controller has written.
  bool wasServed() const;
  /// Returns true if a replica may start from it while newer objects cannot be served: it was served, not only by its
  /// canary, and is neither tainted nor being deleted.
  bool isGood() const { return wasServed() && !awaitsCanary() && state != RevisionState::kTainted && !deleted; }
  /// Returns true if all replicas but its canary have to wait.
  bool awaitsCanary() const { return !canary.empty() && !validated && state != RevisionState::kTainted; }
  /// Returns true if it was served later than the other one. A revision that is served again is a later one.
  bool wasServedAfter(const EgressRevision& other) const;
  /// Returns "demo/egress" for its Gateway, as replicas report it.
  std::string gatewayKey() const { return nameSpace + "/" + gateway; }
  /// Returns the Gateway in the form of events: "Gateway demo/egress".
  std::string gatewayTitle() const { return gatewayKind + " " + gatewayKey(); }
  std::string path() const { return egressRevisionsPath(nameSpace) + "/" + name; }
};

/// Names a revision from which a replica can start (EgressRevision::isGood()).
struct EarlierRevision {
  std::string nameSpace;
  std::string name;  // of the EgressRevision
  std::string revision;

  bool operator==(const EarlierRevision&) const = default;
};

/// Returns the name of the object for a Gateway of that name: this name, cut if it is long, and the revision.
std::string nameOfRevision(const std::string& gateway, std::string_view revision);
struct NewRevision {
  std::string revision;
  std::string canary;  // the name of a replica; empty: none
  std::string data;    // packed objects; empty if they are too large to be kept
};
/// Returns the object to be created.
std::string egressRevisionJson(const RevisedGateway& gateway, const NewRevision& made);
/// Returns the merge patch of its status.
std::string revisionStatusPatch(const EgressRevision& revision, base::WallTime now);
/// Reads an object. Reads spec.data only if the object is active and `withData` is true. The error names the missing
/// field, or the name if it differs from nameOfRevision().
base::Result<EgressRevision> readEgressRevision(const content::Value& object, bool withData);

}  // namespace sluice::kubernetes
