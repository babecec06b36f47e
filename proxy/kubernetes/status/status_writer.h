// Writes the status of each object to the API server.
//
// It has the statuses of the configuration that was compiled last or, while that is refused, of the one that is served
// (rollback_statuses.h), adds the reports of replicas (fleet_conditions.h),
// and compares the result with the status at the API server (status_patch.h). An object is compared again when either
// of them changes, so that no status is written twice, and no requests are made without changes. An object that no
// compiled configuration has contained yet is left alone. If a status will change once more when the last replica
// serves the object, it waits for that, but no longer than kLongestAwait, so that a change of an object costs one
// write. Only the leader writes. Lives on the main thread.
//
// The ObjectWriter (writer/object_writer.h) decides which objects wait when the server does not take writes, and lets
// namespaces take turns. Other outcomes of a write:
//
//   409                     It is made again when the newer version has come.
//   other refusals          It is made again when the object, or the wanted status, has changed.
//   success, but the answer differs from the written status, because the schema of a CRD lacks a field: it is not made
//                           again as long as the status stays as the server has stored it.
//   success, but another client changes the status back: after kMostRepeats writes for one wanted status, each further
//                           write waits twice as long as the one before, up to kLongestHold.
//
// For each kind and cause, the first failure is logged.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/status/status_list.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/state/revisions.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/status/fleet_conditions.h"
#include "proxy/kubernetes/writer/object_writer.h"

namespace sluice::kubernetes {

class StatusWriter final : public control::ReloadObserver, private ObjectWriterUser, private ClusterObjectsUser {
 public:
  /// The number of writes in progress at one time.
  static constexpr std::size_t kMostWrites = 16;
  /// The number of writes of one object for one wanted status that are made without a pause.
  static constexpr int kMostRepeats = 8;
  /// Replicas report at most once in a second, and their reports are judged half a second later.
  static constexpr base::Duration kLongestAwait = std::chrono::seconds(2);
  static constexpr base::Duration kLongestPause = std::chrono::seconds(30);
  static constexpr base::Duration kLongestHold = std::chrono::minutes(5);

  /// References outlive it. `keepsPods` is for clusterStatuses().
  StatusWriter(ApiClient& client, ClusterObjects& objects, const FleetFacts& facts, const control::Revisions& revisions,
               bool keepsPods);

  // Each of these is called inside a Turn.
  void onCompiled(const control::CompiledConfiguration& compiled) override;
  void onServing(const control::CompiledConfiguration& served) override;
  /// Takes the statuses that objects are to have.
  void want(config::StatusList compiled);
  /// Compares all objects again, because facts may have changed.
  void judge();
  /// Begins or ends the writing.
  void lead(bool leads);

 private:
  using Wanted = config::StatusList::Shared;
  struct WantedStatus {
    FleetStatus fleet;
    std::uint64_t round = 0;                                        // of the judge() that it was in last
    bool touched = false;                                           // its object has changed since that judge()
    std::optional<base::MonotonicTime> awaitsUntil = std::nullopt;  // the latest time until which it waits for replicas
  };
  struct StatusWrite {
    std::string resourceVersion;  // of the object that is written
    Wanted wanted;                // the written status; null: our entries were removed
    bool refused = false;         // the write was refused; it is repeated when one of the members above has changed
  };
  /// The history of the writes of one wanted status.
  struct StatusRepeats {
    int writes = 0;
    base::MonotonicTime last{};
    std::optional<std::string> left;  // the stored status after the last write, if it differs from the written one
  };

  void onObjects(const ClusterObjects::Touched& touched) override;
  void wantServed();
  void judge(const WriteKey& key, WantedStatus& wanted, const config::StatusList::Shared& compiled,
             const FleetRound& round);
  void look(const WriteKey& key);
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;
  std::optional<std::string> patchOf(const WriteKey& key, const content::Value* status,
                                     std::string_view resourceVersion) const;
  base::MonotonicTime heldUntil(const WriteKey& key);
  void accepted(const WriteKey& key, const content::Value& answer);
  void tellNotKept(const WriteKey& key, std::string_view reason);
  Wanted wantedOf(const WriteKey& key) const;

  ApiClient& client_;
  const ClusterObjects& objects_;
  const FleetFacts& facts_;
  const control::Revisions& revisions_;
  const bool keepsPods_;
  std::optional<config::StatusList> compiled_;  // what objects are to say
  std::optional<config::StatusList> served_;    // of the configuration that is served, once there is one
  config::StatusList newest_;                   // of the refused one
  std::optional<RefusedRevision> refused_;      // nullopt: the newest configuration is served
  std::uint64_t round_ = 0;                     // of judge()
  std::uint64_t judgedReports_ = 0;             // ReplicaReports::version() of that
  std::map<WriteKey, WantedStatus> wanted_;
  std::set<WriteKey> unjudged_;             // objects that have come since then, which have no wanted status yet
  std::map<WriteKey, StatusWrite> writes_;  // writes whose results the API server has not shown yet
  std::map<WriteKey, StatusRepeats> repeats_;
  std::set<std::string_view> notKept_;  // kinds for which it was logged that the server does not keep a status
  bool leads_ = false;
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
