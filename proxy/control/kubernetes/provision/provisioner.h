// Keeps provisioned objects in the cluster as they should be, if this controller leads: applies what is missing or was
// changed, and deletes what it keeps no more.
//
// It applies by server-side apply, so that people may add fields of their own. An object that it has applied is applied
// again when it should be otherwise, or when somebody has changed it: once a minute it looks at the versions of all
// objects with its label. Whatever has that label and is none of its objects is deleted, so nothing is left of a
// Gateway that was deleted while no controller ran. What is refused for one object stops no other one, and is tried
// again.
//
// Lives on the main thread.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/kubernetes/client/api_exchange.h"
#include "proxy/control/kubernetes/provision/provisioned_object.h"
#include "proxy/net/timers.h"

namespace sluice::control {

/// A ProvisionPlan lists the objects that the cluster should have.
struct ProvisionPlan {
  std::vector<ProvisionedObject> objects = {};  // in the order in which they are applied
  /// Gateways, by namespace and by the value of kGatewayNameLabel, whose objects are left as they are, whatever these
  /// are: it is not known how they should be.
  std::set<std::pair<std::string, std::string>> leftAlone = {};
};

class Provisioner final : private net::Timer {
 public:
  /// `client` outlives it.
  explicit Provisioner(ApiClient& client) : client_(client) {}

  /// Takes all that there should be; inside a Turn.
  void want(ProvisionPlan plan);
  void lead(bool leads);

 private:
  struct AppliedObject {
    std::string body;
    std::string version;  // that the object had afterwards: its generation, or for kinds without one resourceVersion
  };
  /// The requests of a round are sent one after the other.
  struct Task {
    enum class Type { kList, kApply, kDelete };
    Type type;
    const ProvisionedKind* kind = nullptr;
    std::string path;
    std::string body = {};  // kApply
    std::string uid = {};   // kDelete
  };

  void onTimer() override;
  /// Begins a round: looks at what there is, or only applies what should be otherwise.
  void begin(bool looks);
  void next();
  void send(const Task& task);
  void done(base::Result<ApiAnswer>&& answer);
  void judge(const ProvisionedKind& kind, const content::Value& list);
  void note(const Task& task, const content::Value& object);
  bool isLeftAlone(const content::Value& object) const;
  void tellFailure(const std::string& reason);

  ApiClient& client_;
  ProvisionPlan wanted_;
  bool known_ = false;                            // wanted_ was given
  std::map<std::string, AppliedObject> applied_;  // by path
  std::deque<Task> tasks_;
  std::unique_ptr<ApiExchange> exchange_;
  std::set<std::string> failures_;  // of this round
  std::set<std::string> told_;      // of the round before
  base::Duration retryAfter_{};
  bool wantedChanged_ = false;
  bool leads_ = false;
};

}  // namespace sluice::control
