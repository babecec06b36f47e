// ClusterObjects keeps those objects of a cluster that concern the Gateways that are served, and follows their changes.
//
// It follows whole kinds that contain no secrets, and keeps those of their objects that belong to the served Gateways.
// Secrets and ConfigMaps are followed one by one, by name, so that a Role may list exactly those; and Services, of
// which a cluster may have very many, are kept only if they are named, with their EndpointSlices. The reader of the
// texts decides which objects are named (need()). Lives on the main thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/kubernetes/objects/collection_log.h"
#include "proxy/kubernetes/objects/crd_names.h"
#include "proxy/kubernetes/objects/followed_collection.h"
#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/objects/service_fetch.h"

namespace sluice::kubernetes {

/// The objects that concern a process.
struct ClusterScope {
  /// "namespace/name" of the Gateways to serve; empty: all of our GatewayClasses.
  std::set<std::string> gateways = {};
  /// If true, statuses are kept, and so are objects with a status of this program that do not concern it any more.
  bool withStatus = false;
};

class ClusterObjectsUser;

class ClusterObjects final : private CollectionOwner, private CrdNamesUser, private TurnEnd, private net::Timer {
 public:
  /// A named object that the server does not let this process read.
  struct ForbiddenObject {
    std::string_view kind;
    ApiObjectKey key;
    std::string message;
  };

  /// `client` outlives it.
  ClusterObjects(ApiClient& client, ClusterScope scope);
  /// Adds an observer, which is notified after those that were added before. It outlives the last event of the loop.
  void addUser(ClusterObjectsUser& user) { users_.push_back(&user); }

  /// Begins to follow the objects. The client must be open.
  void start();
  /// Sets the objects that the texts name. Those that are not named any more are forgotten.
  void need(NamedObjects names);
  const NamedObjects& needed() const { return needed_; }
  /// Returns true if need() has been settled once.
  bool knowsNeeds() const { return knowsNeeds_; }

  /// Returns true if all kinds have been listed, except for those of Services, which are listed after need().
  bool listed() const;
  /// Returns true if the texts are complete: all objects of the cluster that concern the process, and all that these
  /// name.
  bool complete() const;
  /// Returns a sentence for people about the objects that are still awaited; empty if there are none.
  std::string awaited() const;
  /// Returns true if texts() has all objects that have come so far.
  bool isSettled() const { return !isMarked(); }
  /// Returns the texts, in an order that does not depend on when they came.
  config::KeptTexts texts() const;
  std::vector<ForbiddenObject> forbidden() const;
  /// Returns the CRDs of Gateway API that the cluster has.
  const config::GatewayApiCrds& gatewayApi() const { return crds_.gatewayApi(); }
  /// Returns true, once, if texts(), forbidden() or gatewayApi() has changed.
  bool takeChanged();

  /// Returns, for each kind of routes, the resourceVersion up to which its changes are in texts().
  std::map<std::string, std::uint64_t> seenRoutes() const;

  /// Identifies objects whose status is kept.
  using Touched = std::vector<std::pair<const config::ObjectKind*, ApiObjectKey>>;

  /// Returns the newest version of an object, with the version of its API; null if it is not kept.
  struct NewestObject {
    const ApiObject* object = nullptr;
    std::string_view version;
  };
  NewestObject find(std::string_view group, std::string_view kind, const ApiObjectKey& key) const;
  /// Finds an object whose kind has that name in any group; null if there is none.
  const FollowedCollection* collectionOf(std::string_view kind, const ApiObjectKey& key) const;
  /// Returns "namespace/name" of the Gateways that alone concern this process; empty: all of our GatewayClasses.
  const std::set<std::string>& gatewaysInScope() const { return scope_.gateways; }
  /// Returns the first of our GatewayClasses; empty if there is none.
  std::string firstClass() const { return classes_.empty() ? std::string() : *classes_.begin(); }
  /// Calls the function with each kept object of kinds with a status.
  void forEach(
      const std::function<void(const config::ObjectKind&, const ApiObjectKey&, const ApiObject&)>& visit) const;

 private:
  using NamedKey = std::tuple<std::string_view, std::string, std::string>;  // kind, namespace, name
  /// Gateways, each with true if routes of other namespaces are kept for it, too.
  using ServedGateways = std::set<std::pair<ApiObjectKey, bool>>;

  bool wants(const config::ObjectKind& kind, const content::Value& object) const override;
  bool isInstalled(const config::ObjectKind& kind) const override;
  void onCollection(FollowedCollection& collection) override;
  void onCrds() override;
  void lookAgainAfter(base::Duration pause);
  void onTimer() override;
  void onTurnEnd() override;
  Touched takeTouched();
  void startStages();
  void findGateways();
  void followNamed();
  void followNamed(const config::ObjectKind& kind, const NamedObjects::Names& names);
  void fetchServices();
  void logTrouble();
  bool isKnown(const FollowedCollection& collection) const;
  bool keepsRoutesOfOthers(const ApiObject& gateway) const;
  bool wantsGateway(const ApiObjectKey& key, const content::Value& object) const;
  bool wantsRoute(const content::Value& route) const;
  template <typename Visit>
  void eachCollection(Visit&& visit) const;

  ApiClient& client_;
  const ClusterScope scope_;
  std::vector<ClusterObjectsUser*> users_;
  CrdNames crds_;
  std::vector<std::unique_ptr<FollowedCollection>> kinds_;  // in the order of the table of kinds
  std::map<NamedKey, std::unique_ptr<FollowedCollection>> named_;
  std::vector<std::unique_ptr<ServiceFetch>> fetches_;
  std::set<const config::ObjectKind*> started_;  // kinds that are followed
  std::set<std::string> classes_;                // our GatewayClasses
  ServedGateways gateways_;
  std::optional<NamedObjects> asked_;  // the argument of need(), until it is settled
  NamedObjects needed_;
  bool knowsNeeds_ = false;
  bool textsChanged_ = false;
  config::GatewayApiCrds toldApi_;  // the gatewayApi() of the last takeChanged()
  CollectionLog log_;
};

class ClusterObjectsUser {
 public:
  /// Called inside a Turn when the result of any function of ClusterObjects may have changed. The objects in `touched`
  /// are new, or other versions than before.
  virtual void onObjects(const ClusterObjects::Touched& touched) = 0;

 protected:
  ~ClusterObjectsUser() = default;
};

}  // namespace sluice::kubernetes
