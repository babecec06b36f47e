// Keeps the revisions of one Gateway as EgressRevisions, in a process that serves it: it creates the object for the
// newest objects, notifies its user of the active revision, and, if the Gateway asks for a canary, decides when a new
// revision may be served.
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
#include <string>

#include "proxy/kubernetes/objects/cluster_objects.h"
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

 protected:
  ~RevisionRecorderUser() = default;
};

class RevisionRecorder final : private ObjectWriterUser, private RevisionWatchUser, private net::Timer {
 public:
  /// A burst of changes becomes one object, that of the last.
  static constexpr base::Duration kBeforeCreation = std::chrono::seconds(1);
  static constexpr base::Duration kTryToCreateAgainAfter = std::chrono::seconds(30);

  struct Names {
    std::string gateway;  // "namespace/name"
    std::string replica;  // by which this process reports
  };
  /// References outlive it.
  RevisionRecorder(ApiClient& client, const ClusterObjects& objects, const Names& names, RevisionRecorderUser& user);

  void start() { watch_.start(); }
  /// Sets the objects that the replica got last, and whether the Gateway asks for a canary; null: there are none to
  /// keep. Inside a Turn.
  void want(std::shared_ptr<const RevisedObjects> objects, bool withCanary);
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
  void createIfMissing();
  void releaseIfDue();
  bool hasNoCanary(const std::string& revision) const;
  bool concerns(const EgressRevision& revision) const;
  void createSoon();
  WriteKey writeKey() const { return {config::kOwnGroup, kEgressRevisionKind, gateway_.first, gateway_.second}; }

  ApiClient& client_;
  const ClusterObjects& objects_;
  const ApiObjectKey gateway_;
  const std::string replica_;
  RevisionRecorderUser& user_;
  RevisionWatch watch_;
  std::shared_ptr<const RevisedObjects> wanted_;
  bool withCanary_ = false;  // wanted_ asks for one
  std::string held_;         // a revision that waits
  std::shared_ptr<const PinnedRevision> pinned_;
  std::string posted_;    // the revision that was posted last
  std::string hurried_;   // the revision that was deleted last, and created again without a pause
  std::string existing_;  // the revision whose object was there already when it was to be created
  std::string unasked_;   // the revision that is served although no canary is known
  bool refused_ = false;  // the server has refused the last object
  ObjectWriter writer_;
};

}  // namespace sluice::kubernetes
