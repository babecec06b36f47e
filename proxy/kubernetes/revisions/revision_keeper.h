// Judges the EgressRevisions of all Gateways by the reports of their replicas, if this controller leads: it writes
// their statuses, and deletes the oldest ones beyond the number to keep.
//
// Only a revision that replicas of its Gateway report, or have reported, gets a status. Others are only claims of their
// creators, and just the newest ones are kept. Of revisions whose Gateway does not exist, the newest of each namespace
// are kept.
//
// A revision is tainted once all replicas of its Gateway got it and refuse it. It stays tainted, whatever they report
// later, until its object is deleted. Revisions are not deleted if a replica serves them or got them last, if they are
// active, if Pods start from them, or if they were served or created last. A revision that asks for a canary is
// validated once the canary has served it for kCanaryTime without a break, and all other replicas have it ready. If the
// canary is gone before that, and other replicas report, the object is deleted, so that another one becomes the canary.
//
// At most kMostRemovals of a namespace are deleted in one round, so that many objects there delay no other namespace.
// When a round is written, the next one follows.
//
// Pods may read only the Secrets that their newest objects name. So the status of a revision lists the Secrets that
// they could read while it was the newest one, and these are readable again while the revision is active, or while Pods
// start from it. Lives on the main thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/status/conditions.h"
#include "proxy/kubernetes/events/event_publisher.h"
#include "proxy/kubernetes/lease/replica_reports.h"
#include "proxy/kubernetes/objects/named_objects.h"
#include "proxy/kubernetes/revisions/revision_verdict.h"
#include "proxy/kubernetes/revisions/revision_watch.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"
#include "proxy/observe/events.h"

namespace sluice::kubernetes {

class RevisionKeeperUser {
 public:
  /// Called inside a Turn when judge() may have another result; it only records.
  virtual void onRevisionsToJudge() = 0;

 protected:
  ~RevisionKeeperUser() = default;
};

class RevisionKeeper final : private ObjectWriterUser, private RevisionWatchUser, private net::Timer {
 public:
  static constexpr base::Duration kTryToWriteAgainAfter = std::chrono::seconds(10);
  static constexpr base::Duration kCanaryTime = std::chrono::seconds(5);
  static constexpr std::size_t kMostRemovals = 20;

  /// References outlive it. `scope` has "namespace/name" of the Gateways that are judged; empty: all. `events` gets the
  /// events for people.
  RevisionKeeper(ApiClient& client, std::set<std::string> scope, EventPublisher& events, RevisionKeeperUser& user);

  void start() { watch_.start(); }
  void lead(bool leads);
  /// Sets the existing Gateways, including those that are not legible.
  void setGateways(std::set<NamedGateway> gateways) { gateways_ = std::move(gateways); }
  /// Sets how many of each Gateway are kept. Those in use are kept in any case.
  void setMost(std::size_t most) { most_ = most; }
  /// Sets the Secrets that the Pods of each Gateway may read, as their newest objects name them.
  void setReadable(compile::SecretsOfGateways readable) { readable_ = std::move(readable); }
  /// Returns true once it is known which revisions there are, or that this cannot be known.
  bool isSettled() const { return watch_.isSettled(); }
  /// Returns the additional Secrets that Pods must be able to read because an earlier revision is active, or because
  /// Pods that start cannot serve the newest one and start from an earlier one (standby_revisions.h).
  compile::SecretsOfGateways readableBesides() const;
  /// Judges all revisions by these reports; inside a Turn.
  void judge(const ReplicaReports& reports, base::MonotonicTime now);
  /// Returns a condition if an earlier revision is active at a Gateway.
  std::optional<config::Condition> conditionOf(const config::ObjectStatus& gateway) const;

 private:
  using Revisions = std::vector<const EgressRevision*>;
  using RevisionsOfGateways = std::map<NamedGateway, Revisions>;
  struct Write {
    ApiRequest request;
    std::vector<observe::Event> decided;  // events that are published once the status is written
  };

  void onTimer() override { user_.onRevisionsToJudge(); }
  void onRevisions() override { user_.onRevisionsToJudge(); }
  struct WrittenStatus {
    EgressRevision seen;  // the object before the write
    EgressRevision judged;
  };

  std::vector<observe::Event> decidedOf(const EgressRevision& before, const EgressRevision& now) const;
  void tellActive();
  bool isInScope(const EgressRevision& revision) const {
    return scope_.empty() || scope_.contains(revision.gatewayKey());
  }
  void addReadable(EgressRevision& revision) const;
  bool removeWithoutCanary(const EgressRevision& revision, const ReportsOfGateway& reports, base::MonotonicTime now);
  void write(const EgressRevision& revision, bool isNewest, const ReportsOfGateway& reports, base::MonotonicTime now);
  bool isWritten(const EgressRevision& revision, const EgressRevision& judged) const;
  bool isValidated(const EgressRevision& revision, const ReportsOfGateway& reports, base::MonotonicTime now);
  void wakeAt(base::MonotonicTime at);
  void remove(const EgressRevision& revision);
  Revisions takeSurplus(Revisions& of, const std::set<ApiObjectKey>& inUse) const;
  void push(const EgressRevision& revision, ApiRequest request, std::vector<observe::Event> decided = {});
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;

  ApiClient& client_;
  const std::set<std::string> scope_;
  EventPublisher& events_;
  RevisionKeeperUser& user_;
  RevisionWatch watch_;
  std::map<WriteKey, Write> writes_;             // writes that have no outcome yet
  std::map<std::string, std::size_t> removals_;  // of this round, by namespace
  std::size_t most_ = 10;
  std::set<NamedGateway> gateways_;
  compile::SecretsOfGateways readable_;
  /// The last written status of each revision. The watch may not show it yet, and an older CustomResourceDefinition
  /// drops its Secrets and replicas.
  std::map<ApiObjectKey, WrittenStatus> written_;
  bool leads_ = false;
  base::MonotonicTime ledSince_{};
  /// Since when the canary of each revision has served it: by its own report, and by this process's clock.
  std::map<ApiObjectKey, std::pair<std::string, base::MonotonicTime>> canariesSince_;
  std::set<ApiObjectKey> active_;  // active revisions for which an event was published
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
