// Follows the reports of all replicas of the data plane (lease/replica_report.h) in all namespaces. It logs once for
// each namespace that it has reports that are not trusted or cannot be read, and once that there are too many. Lives on
// the main thread.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/lease/replica_reports.h"
#include "proxy/kubernetes/objects/api_object.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class ReplicaWatchUser {
 public:
  /// Called inside a Turn when the report of a replica has changed, or the replica is gone; it only records.
  virtual void onReports() = 0;

 protected:
  ~ReplicaWatchUser() = default;
};

class ReplicaWatch final : private ListWatchUser, private net::Timer {
 public:
  /// Both outlive it.
  ReplicaWatch(ApiClient& client, ReplicaWatchUser& user);

  /// Sets whose reports are trusted. Leases are followed from the first call on, so that no report is judged without
  /// the others.
  void trust(Reporters reporters);
  const ReplicaReports& reports() const { return reports_; }
  /// Takes the report of this process itself, which need not come back from the API server first.
  void seeOwn(const ReplicaReport& report);

 private:
  static constexpr std::size_t kMostTold = 1000;  // namespaces of which something was said

  void onListing(ListWatch&) override { listed_.emplace(); }
  void onListed(ListWatch&) override;
  void onObject(ListWatch&, content::Value&& lease) override;
  void onDeleted(ListWatch&, const content::Value& lease) override;
  void onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) override;
  void onRecovered(ListWatch&) override { told_.clear(); }
  void onTimer() override;
  void see(const content::Value& lease);
  void tellUnread(const ApiObjectKey& key, const std::string& reason);
  void tellIfIgnored(const ApiObjectKey& key);
  void tellDropped(const ApiObjectKey& key);
  void remove(const ApiObjectKey& key);
  void wake();

  ApiClient& client_;
  ReplicaWatchUser& user_;
  ListWatch follow_;
  ReplicaReports reports_;
  std::optional<std::set<ApiObjectKey>> listed_;
  std::optional<ApiObjectKey> own_;  // the Lease of this process itself, which may not be written yet
  std::set<std::string> unread_;     // namespaces that have reports that cannot be read
  std::set<std::string> ignored_;    // namespaces that have reports that do not count
  std::string told_;                 // why they cannot be listed
  bool toldDropped_ = false;         // the warning of too many reports was logged
  bool started_ = false;
};

}  // namespace sluice::kubernetes
