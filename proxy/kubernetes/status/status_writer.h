// Writes what became of each object into its status at the API server.
//
// It has the statuses of the configuration that was compiled last, adds what the replicas say (fleet_conditions.h), and
// compares what is wanted so with what the API server has (status_patch.h). An object is looked at again when either of
// them changes, so that nothing is written twice and nothing is asked for at rest. An object that no configuration has
// been compiled with yet is left alone. A status that is about to change once more, when the last replica serves the
// object, waits for that, but not longer than kLongestAwait, so that a change of an object costs one write. Only who
// leads writes. Lives on the main thread.
//
// The ObjectWriter (writer/object_writer.h) says who waits when the server does not take writes, and namespaces take
// turns. What else a write may come to:
//
//   409                     It is made again when the newer version has come.
//   other refusals          It is made again when the object, or what is wanted, has changed.
//   success, and the answer says something else than was written, because the schema of a CRD lacks a field: it is not
//                           made again as long as the status stays what the server has made of it.
//   success, and somebody else changes it back: after kMostRepeats writes for one wanted status, each further one waits
//                           twice as long as the one before, up to kLongestHold.
//
// Of each kind and cause, the first trouble is logged.
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
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/status/fleet_conditions.h"
#include "proxy/kubernetes/writer/object_writer.h"

namespace sluice::kubernetes {

class StatusWriter final : public control::ReloadObserver, private ObjectWriterUser, private ClusterObjectsUser {
 public:
  /// Writes that are under way at one time.
  static constexpr std::size_t kMostWrites = 16;
  /// Writes of one object for one wanted status that are made at once.
  static constexpr int kMostRepeats = 8;
  /// Replicas report at most once in a second, and what they say is judged half a second later.
  static constexpr base::Duration kLongestAwait = std::chrono::seconds(2);
  static constexpr base::Duration kLongestPause = std::chrono::seconds(30);
  static constexpr base::Duration kLongestHold = std::chrono::minutes(5);

  /// References outlive it. `keepsPods` is for clusterStatuses().
  StatusWriter(ApiClient& client, ClusterObjects& objects, const FleetFacts& facts, bool keepsPods);

  // Each inside a Turn.
  void onCompiled(const control::CompiledConfiguration& compiled) override;
  /// Takes the statuses of a newer configuration.
  void want(config::StatusList compiled);
  /// Looks at what is wanted again, because facts may be others than before.
  void judge();
  /// Begins to write, or ends it.
  void lead(bool leads);

 private:
  using Wanted = config::StatusList::Shared;
  struct WantedStatus {
    FleetStatus fleet;
    std::uint64_t round = 0;                                        // of the judge() that it was in last
    std::optional<base::MonotonicTime> awaitsUntil = std::nullopt;  // until when it waits for replicas, at the longest
  };
  struct StatusWrite {
    std::string resourceVersion;  // of the object that the write is about
    Wanted wanted;                // what was written; null: that nothing is ours
    bool refused = false;         // as long as neither of them is another one
  };
  /// What became of the writes of one wanted status.
  struct StatusRepeats {
    int writes = 0;
    base::MonotonicTime last{};
    std::optional<std::string> left;  // the status that the server has made of the last write, if it is another one
  };

  void onObjects(const ClusterObjects::Touched& touched) override;
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
  const bool keepsPods_;
  std::optional<config::StatusList> compiled_;
  std::uint64_t round_ = 0;  // of judge()
  std::map<WriteKey, WantedStatus> wanted_;
  std::set<WriteKey> unjudged_;             // objects that have come since, of which nothing is wanted
  std::map<WriteKey, StatusWrite> writes_;  // until the API server shows what came of them
  std::map<WriteKey, StatusRepeats> repeats_;
  std::set<std::string_view> notKept_;  // kinds of which it was logged that a status is not kept
  bool leads_ = false;
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
