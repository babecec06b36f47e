// Keeps the revisions of one Gateway as EgressRevisions, in a process that serves it: it creates the object for the
// newest objects, notifies its user of the active revision and of those that were good, and, if the Gateway asks for a
// canary, decides when a new revision may be served.
//
// An EgressRevision has all objects, so a Gateway whose objects change all the time gets only some: the first few after
// a rest, and then the newest of each kBetweenObjects. An urgent one is created at once: the first of a Gateway, one
// for which it asks for a canary, and one that this replica refuses. If objects that are served wait when such an event
// makes others the newest, or when an earlier revision is made active, these are recorded at once, too.
//
// All replicas see the same objects; the first one that creates the EgressRevision is enough, and the others wait a
// moment so that they need not try. If the Gateway asks for a canary, it is the replica that has created the object:
// the others do not serve the revision until the controller has written that this one does.
//
// Others may create objects too. There is no canary to wait for if the object of that name belongs to another Gateway
// or another revision, or if it names no canary although the Gateway asks for one and no replica has served it. After
// kTryToCreateAgainAfter the replica then serves the revision, and logs that. Lives on the main thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proxy/control/pace.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/revisions/revised_objects.h"
#include "proxy/kubernetes/revisions/revision_watch.h"
#include "proxy/kubernetes/writer/object_writer.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// Each function is called inside a Turn.
class RevisionRecorderUser {
 public:
  /// Called with the revision to serve in place of the newest objects; null: none.
  virtual void onPin(std::shared_ptr<const PinnedRevision> pinned) = 0;
  /// Called when it is known whether a revision is pinned, or when that cannot be known now.
  virtual void onPinKnown() = 0;
  /// Called when the revision that mayServe() has held back may be served now.
  virtual void onReleased() = 0;
  /// Called when the EgressRevision of this revision was deleted, so that the revision may be tried again.
  virtual void onForgotten(const std::string& revision) = 0;
  /// Called with the revisions from which this replica can start, the newest first, when these are others.
  virtual void onEarlier(std::vector<EarlierRevision> newestFirst) = 0;
  /// Called with objects to be packed, which takes long, for packed(). One at a time.
  virtual void onPack(std::shared_ptr<const RevisedObjects> objects) = 0;

 protected:
  ~RevisionRecorderUser() = default;
};

class RevisionRecorder final : private ObjectWriterUser, private RevisionWatchUser, private net::Timer {
 public:
  /// A burst of changes becomes one object, that of the last.
  static constexpr base::Duration kBeforeCreation = std::chrono::seconds(1);
  /// Objects that are not urgent are created once in this time, so that the newest are recorded within a minute.
  static constexpr base::Duration kBetweenObjects = std::chrono::seconds(50);
  static constexpr int kAtOnceAfterRest = 4;
  /// Others may create objects for the Gateway too, and delay this replica by no more than this.
  static constexpr base::Duration kLongestDelay = 3 * kBetweenObjects;
  static constexpr base::Duration kTryToCreateAgainAfter = std::chrono::seconds(30);

  struct Names {
    std::string gateway;  // "namespace/name"
    std::string replica;  // by which this process reports
  };
  struct WantedRevision {
    std::shared_ptr<const RevisedObjects> objects = nullptr;  // null: there are none to keep
    bool withCanary = false;                                  // the Gateway asks for one
    bool isRefused = false;                                   // this replica does not serve them
  };
  /// References outlive it.
  RevisionRecorder(ApiClient& client, const ClusterObjects& objects, const Names& names, RevisionRecorderUser& user);

  void start() { watch_.start(); }
  /// Sets the objects that the replica got last. Inside a Turn.
  void want(WantedRevision wanted);
  /// The result of onPack(): packObjects() of the texts. Inside a Turn.
  void packed(std::string data);
  /// Returns false if this replica has to wait before it serves a revision that asks for a canary.
  bool mayServe(const std::string& revision);

 private:
  /// Ends the wait for a canary that does not exist.
  void onTimer() override;
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;
  void onRevisions() override;
  void onRevisionDeleted(const EgressRevision& revision) override;
  const EgressRevision* find(const std::string& revision) const;
  bool isReleased(const std::string& revision) const;
  bool isMissing(const WantedRevision& wanted) const;
  bool isUrgent() const;
  base::MonotonicTime dueAt() const;
  void notePace();
  void tellEarlier();
  void createIfMissing();
  void schedule();
  void releaseIfDue();
  bool hasNoCanary(const std::string& revision) const;
  bool concerns(const EgressRevision& revision) const;
  WriteKey writeKey() const { return {config::kOwnGroup, kEgressRevisionKind, gateway_.first, gateway_.second}; }

  ApiClient& client_;
  const ClusterObjects& objects_;
  const ApiObjectKey gateway_;
  const std::string replica_;
  RevisionRecorderUser& user_;
  RevisionWatch watch_;
  WantedRevision wanted_;
  WantedRevision owed_;      // was served before wanted_, and has to be recorded, too
  WantedRevision recorded_;  // is being packed or posted
  bool packs_ = false;
  std::optional<std::string> data_;                        // of recorded_, once it is packed
  control::Pace pace_{kBetweenObjects, kAtOnceAfterRest};  // of all replicas
  std::set<std::string> existed_;                          // the names of the objects that the watch has shown
  std::optional<base::MonotonicTime> missingSince_;        // since when wanted objects have not been recorded
  bool dueSoon_ = false;  // the creation that waits for its time does not wait for the pace
  std::string held_;      // a revision that waits
  std::shared_ptr<const PinnedRevision> pinned_;
  std::vector<EarlierRevision> earlier_;  // those that the user knows
  std::string posted_;                    // the revision that was posted last
  std::string hurried_;                   // the revision that was deleted last, and created again without a pause
  std::string existing_;                  // the revision whose object was there already when it was to be created
  std::string unasked_;                   // the revision that is served although no canary is known
  bool refused_ = false;                  // the server has refused the last object
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
