// Keeps provisioned objects in the cluster as they should be, if this controller leads: applies what is missing or was
// changed, and deletes what it keeps no more.
//
// It applies by server-side apply, so that people may add fields of their own. An object that it has applied is applied
// again when it should be otherwise, or when somebody has changed it: once a minute it looks at the versions of all
// objects with its label. Whatever has that label and is none of its objects is deleted, so nothing is left of a
// Gateway that was deleted while no controller ran; at most kMostRemovals of a kind and namespace in one round, because
// anybody may write the label. What is refused for one object stops no other one, is tried again, and is said by a
// condition of its Gateway. That names no object of another namespace, because others read it than there.
//
// An object that is missing from those with its label is made only if nothing else has its name: what somebody else has
// made is never taken over. While it is not known that a Gateway has a ServiceAccount of its own, nothing more of it is
// applied, because all of it would give rights to another one of that name. Its Pods are made after what they need in
// its own namespace. A kind whose list cannot be read is not judged.
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

/// Says which objects of a Gateway stay as they are, because the controller does not know how they should be.
enum class LeftAlone : std::uint8_t {
  kPods,          // all but what they may read
  kNotElsewhere,  // all but what they may read in other namespaces, which may have withdrawn it
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

  /// Takes all that there should be; inside a Turn.
  void want(ProvisionPlan plan);
  void lead(bool leads);
  /// Returns whether the objects of a Gateway ("Gateway demo/egress") are as they should be, and if not, the first
  /// reason; Unknown while they are being changed; none if it has no objects. It has no observedGeneration.
  std::optional<config::Condition> conditionOf(const std::string& gateway) const;

 private:
  struct ProvisionFault {
    std::string reason;
    bool elsewhere = false;  // it is about an object of another namespace

    bool operator==(const ProvisionFault&) const = default;
  };
  /// The first fault for each Gateway whose objects are not as they should be, those elsewhere last; "" stands for all
  /// Gateways.
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
    std::string version;  // that the object had afterwards: its generation, or for kinds without one resourceVersion
  };
  /// The requests of a round are sent one after the other.
  struct Task {
    enum class Type {
      kList,     // what has our label
      kFind,     // whether something has that name
      kCreate,   // applies what nothing else had the name of
      kApply,    // applies what is ours
      kRelease,  // gives back the fields of an object that somebody else has made since kFind
      kDelete
    };
    Type type;
    const ProvisionedKind* kind = nullptr;
    std::string path;
    std::string body = {};     // of what is applied
    std::string gateway = {};  // for which the object is kept
    std::string uid = {};      // kApply, kDelete: of the object; another one of its name may have come meanwhile
    bool elsewhere = false;    // the object is not in the Gateway's namespace
    std::string page = {};     // kList: the token of a page that is not the first one
  };

  void onTimer() override;
  /// Begins a round: looks at what there is, or only applies what should be otherwise.
  void begin(bool looks);
  void next();
  /// Returns true if the task has to wait for something that is not known to be there.
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
  /// `told` is what others than those who run the controller are told of an object of another namespace.
  void fail(const Task& task, const std::string& why, const std::string& told);
  bool isLeftAlone(const ProvisionedKind& kind, const FoundObject& object) const;
  void remove(const ProvisionedKind& kind, const FoundObject& object);
  /// `uid` is that of the object if it is ours and there; else empty.
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
  std::map<std::string, std::size_t> unwanted_;  // how many of them are to be removed, by namespace
  bool moreUnwanted_ = false;                    // in this round, than are removed in it
  Faults faults_;                                // of this round
  std::optional<Faults> outcome_;                // of the last round that has ended
  std::set<std::string> pending_;                // Gateways whose objects shall be others than in that round
  std::set<std::string> logged_;                 // the reasons of the last round
  std::set<std::string> reasons_;                // of this round
  base::Duration retryAfter_{};                  // that the server asked for in this round
  bool wantedChanged_ = false;
  bool leads_ = false;
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
