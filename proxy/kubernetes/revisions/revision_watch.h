// Follows EgressRevisions: those of a namespace, or all. Lives on the main thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/revisions/egress_revision.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// Each function is called inside a Turn, and only records.
class RevisionWatchUser {
 public:
  /// Called when the result of another function of the watch may have changed.
  virtual void onRevisions() = 0;
  virtual void onRevisionDeleted(const EgressRevision& /*revision*/) {}

 protected:
  ~RevisionWatchUser() = default;
};

class RevisionWatch final : private ListWatchUser, private net::Timer {
 public:
  /// A cluster may get the CustomResourceDefinition later.
  static constexpr base::Duration kLookForKindAgainAfter = std::chrono::minutes(1);

  /// References outlive it. If `withData` is true, the data of active revisions is read, too.
  RevisionWatch(ApiClient& client, const std::string& nameSpace, bool withData, RevisionWatchUser& user);

  void start() { follow_.list(); }
  /// Returns true if all existing revisions were seen once.
  bool listed() const { return listedOnce_; }
  /// Returns true if the server does not have the kind, or does not permit to read it.
  bool isWithheld() const { return withheld_; }
  /// Returns true if it is of no use to wait for further revisions: they were listed once, or cannot be listed at the
  /// moment.
  bool isSettled() const { return listedOnce_ || troubled_; }
  const std::map<ApiObjectKey, EgressRevision>& revisions() const { return revisions_; }

 private:
  static constexpr std::size_t kMostTold = 1000;

  void onListing(ListWatch&) override { listing_.emplace(); }
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& object) override;
  void onDeleted(ListWatch&, const content::Value& object) override { remove(keyOf(object)); }
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override {
    told_.clear();
    withheld_ = false;
  }
  void onTimer() override { follow_.list(); }
  void remove(const ApiObjectKey& key);

  ApiClient& client_;
  const bool withData_;
  RevisionWatchUser& user_;
  ListWatch follow_;
  std::map<ApiObjectKey, EgressRevision> revisions_;
  std::optional<std::set<ApiObjectKey>> listing_;  // the revisions that the current listing has shown
  bool listedOnce_ = false;
  bool withheld_ = false;
  bool troubled_ = false;
  std::set<std::string> unread_;  // namespaces with an object of which it was told that it cannot be read
  std::string told_;              // why they cannot be read
};

}  // namespace sluice::kubernetes
