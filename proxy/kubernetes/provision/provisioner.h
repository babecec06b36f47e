// Keeps provisioned objects in the cluster in their planned state, if this controller leads: it applies objects that
// are missing or were changed, and deletes those that are not needed any more.
//
// It applies by server-side apply, so that people may add fields of their own. An applied object is applied again when
// its plan has changed, or when anybody has changed the object: once a minute the controller reads the versions of all
// objects with its label. Other objects with that label are deleted, so that nothing is left of a Gateway that was
// deleted while no controller ran; at most kMostRemovals of a kind and namespace in one round, because anybody may
// write the label. A refusal of one object stops no other one, is tried again, and is reported by a condition of its
// Gateway. The condition names no object of another namespace, because its readers may not read that namespace.
//
// An object that is missing among those with its label is created only if no other object has its name: objects of
// others are never taken over. As long as it is not known that a Gateway has a ServiceAccount of its own, none of its
// other objects is applied, because they would give rights to another account of that name. Its Pods are created after
// the objects that they need in its own namespace. A kind whose list cannot be read is not changed.
//
// Lives on the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/kubernetes/provision/found_object.h"
#include "proxy/kubernetes/provision/provisioned_object.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// The objects of a Gateway that stay as they are, because the controller does not know their planned state.
enum class LeftAlone : std::uint8_t {
  kPods,          // all objects except those that grant rights
  kNotElsewhere,  // all objects except those that grant rights in other namespaces, whose grants may have ended
  kAll
};

/// A ProvisionPlan lists the objects that the cluster should have.
struct ProvisionPlan {
  std::vector<ProvisionedObject> objects = {};  // those of a Gateway in the order in which they are applied
  /// By namespace and by the value of kGatewayNameLabel.
  std::map<std::pair<std::string, std::string>, LeftAlone> leftAlone = {};
};

class ProvisionerUser {
 public:
  /// Called inside a Turn when conditionOf() may return something else; it only records.
  virtual void onProvisioned() = 0;

 protected:
  ~ProvisionerUser() = default;
};

class Provisioner final : private ObjectWriterUser, private net::Timer {
 public:
  static constexpr std::size_t kMostRemovals = 100;

  /// Both outlive it.
  Provisioner(ApiClient& client, ProvisionerUser& user);

  /// Takes the plan of all objects; inside a Turn.
  void want(ProvisionPlan plan);
  void lead(bool leads);
  /// Returns a condition: whether the objects of a Gateway ("Gateway demo/egress") are as planned, with the first
  /// reason if they are not; Unknown while they are being changed; none if it has no objects. It has no
  /// observedGeneration.
  std::optional<config::Condition> conditionOf(const std::string& gateway) const;

 private:
  struct ProvisionFault {
    std::string reason;
    bool elsewhere = false;  // it is about an object of another namespace

    bool operator==(const ProvisionFault&) const = default;
  };
  /// The first fault for each Gateway whose objects are not as planned. Faults in other namespaces come last. The key
  /// "" is for all Gateways.
  using Faults = std::map<std::string, ProvisionFault>;
  /// The paths of objects that must be there before other objects of a Gateway are applied.
  struct Needs {
    std::string account = {};              // before all others; empty if there is none
    std::vector<std::string> ofPods = {};  // before its Deployment is made
  };
  struct AppliedObject {
    const ProvisionedKind* kind = nullptr;
    std::string body;
    std::string uid;
    std::string version;  // of the applied object: its generation, or for kinds without one its resourceVersion
  };
  /// The requests of a round are sent one after the other.
  struct Task {
    enum class Type {
      kList,     // lists the objects with the controller's label
      kFind,     // checks whether an object has that name
      kCreate,   // applies an object whose name was free
      kCount,    // reads the number of Pods of a Deployment that an autoscaler is to choose
      kKeep,     // keeps that number
      kApply,    // applies an object of the controller
      kRelease,  // gives back the fields of an object that another client has created since kFind
      kDelete
    };
    Type type;
    const ProvisionedKind* kind = nullptr;
    std::string path;
    std::string body = {};     // of the object that is applied
    std::string gateway = {};  // for which the object is kept
    std::string uid = {};    // kCount, kApply, kDelete: of the object; another one of its name may have come meanwhile
    bool elsewhere = false;  // the object is not in the Gateway's namespace
    std::string page = {};   // kList: the token of a page that is not the first one
  };

  void onTimer() override;
  /// Begins a round: reads the existing objects, or only applies those whose plan has changed.
  void begin(bool looks);
  void next();
  /// Returns true if the task has to wait for an object that is not known to exist.
  bool isHeldBack(const Task& task) const;
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onItem(const content::Value& item) override { take(*tasks_.front().kind, item); }
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;
  /// Takes the answer to a request that the server has executed.
  void executed(const Task& task, const ApiAnswer& answer);
  void take(const ProvisionedKind& kind, const content::Value& object);
  void endPage(const Task& task, const content::Value& list);
  void judge(const ProvisionedKind& kind);
  void note(const Task& task, const content::Value& object);
  void refuseForeign(const Task& task);
  /// Keeps the number of Pods of a Deployment if only the controller has chosen it until now.
  void keepCount(const Task& task, const content::Value& list);
  /// `told` is the text about an object of another namespace for readers other than the controller's operators.
  void fail(const Task& task, const std::string& why, const std::string& told);
  bool isLeftAlone(const ProvisionedKind& kind, const FoundObject& object) const;
  void remove(const ProvisionedKind& kind, const FoundObject& object);
  /// `uid` is that of the object if it exists and belongs to the controller; else empty.
  void apply(const ProvisionedObject& object, const std::string& uid);
  void tellFailure(const std::string& gateway, const std::string& reason);
  void endRound();

  ApiClient& client_;
  ProvisionerUser& user_;
  ProvisionPlan wanted_;
  std::set<std::string> wantedPaths_;
  std::map<std::string, Needs> needs_;            // of the Gateways that have objects of their own
  bool given_ = false;                            // wanted_ was given
  std::map<std::string, AppliedObject> applied_;  // by path
  std::deque<Task> tasks_;                        // of this round; the first one is under way
  // Filled while a kind is listed, page by page.
  std::map<std::string, FoundObject> found_;     // by path
  std::map<std::string, std::size_t> unwanted_;  // the number of unwanted objects, by namespace
  bool moreUnwanted_ = false;                    // more objects are unwanted than this round removes
  Faults faults_;                                // of this round
  std::optional<Faults> outcome_;                // of the last round that has ended
  std::set<std::string> pending_;                // Gateways whose plan has changed since that round
  std::set<std::string> logged_;                 // the reasons of the last round
  std::set<std::string> reasons_;                // of this round
  base::Duration retryAfter_{};                  // the pause that the server asked for in this round
  bool wantedChanged_ = false;
  bool leads_ = false;
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
