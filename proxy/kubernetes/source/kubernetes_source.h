// A KubernetesSource provides the configuration from a Kubernetes API server.
//
// Its objects are followed on the main thread (cluster_objects.h); the loading thread takes their texts, reports the
// names in them, and waits until these objects have come, too, so that it never reads a part of a configuration. While
// the server is unreachable, the last known objects stay the configuration. An earlier configuration may be pinned in
// place of the server's newest objects; then only Secrets and Services are the current ones. A process can also start
// from an earlier one if it cannot serve the newest objects.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/load/text_cache.h"
#include "proxy/control/source.h"
#include "proxy/kubernetes/objects/cluster_objects.h"
#include "proxy/kubernetes/objects/reached_objects.h"
#include "proxy/kubernetes/revisions/earlier_revisions.h"
#include "proxy/kubernetes/revisions/revised_objects.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::kubernetes {

class KubernetesSource final : public control::Source, private ClusterObjectsUser, private net::Timer {
 public:
  /// The longest time for which read() waits for named objects.
  static constexpr base::Duration kLongestWait = std::chrono::seconds(5);
  /// A burst of changes is read together: at most once in this time.
  static constexpr base::Duration kBetweenChanges = std::chrono::milliseconds(64);

  /// `client` and `main` outlive it. `beside` is another source, whose objects are used only if the server has none of
  /// that name; may be null.
  KubernetesSource(ApiClient& client, net::Worker& main, ClusterScope scope, std::unique_ptr<control::Source> beside);

  config::ObjectSet read(const base::Secret& key) override;
  config::ObjectSet refreshed(const config::ObjectSet& served, const config::ObjectSet& newest) const override;
  std::size_t earlier() override { return earlier_.count(); }
  config::ObjectSet readEarlier(std::size_t which, const base::Secret& key) override;
  config::PodKeeping keeping() const override { return keeping_; }
  void watch(control::Reloadable& reader) override;
  void close() override;

  /// Sets keeping(); to be called before it is watched.
  void setKeeping(config::PodKeeping keeping) { keeping_ = std::move(keeping); }
  ClusterObjects& objects() { return objects_; }
  /// Returns true if the set of this serial number (ObjectSet::serial) has all changes that the server has sent.
  bool isNewest(std::uint64_t serial) const { return !pins_ && serial == serial_ && objects_.isSettled(); }

  /// Enables revised(), and makes the first reading wait for knowPin(); to be called before that reading.
  void reviseObjects() { revises_ = true; }
  /// Called when it is known whether a revision is pinned. Inside a Turn.
  void knowPin();
  /// Returns the objects of the set of this serial number, if it is the one that was read last, and complete.
  std::shared_ptr<const RevisedObjects> revised(std::uint64_t serial);
  /// Sets an earlier configuration that is read in place of the server's objects; null: the server's objects are read.
  /// Inside a Turn.
  void pin(std::shared_ptr<const PinnedRevision> pinned);
  /// Sets the configurations for earlier(), the newest first. Inside a Turn.
  void offer(std::vector<EarlierRevision> newestFirst) { earlier_.offer(std::move(newestFirst)); }

 private:
  /// The last data from the main thread for the loading thread.
  struct Told {
    config::KeptTexts texts;
    std::uint64_t serial = 0;
    std::vector<ClusterObjects::ForbiddenObject> forbidden;
    config::GatewayApiCrds gatewayApi;
    std::optional<NamedObjects> needed;                          // none: need() was never called
    bool listed = false;                                         // ClusterObjects::listed()
    std::shared_ptr<const config::ReportedAddresses> addresses;  // when they were listed for the first time
    bool complete = false;
    std::string awaited;
    std::shared_ptr<const PinnedRevision> pinned;
  };

  void onTimer() override;
  void onObjects(const ClusterObjects::Touched&) override { onChanged(); }
  void onChanged();
  void changedNow();
  bool isComplete() const;
  void keepRevised(const config::ObjectSet& set);
  config::ObjectSet readTold(const Told& told, const base::Secret& key);
  config::ObjectSet readInPlaceOf(const std::shared_ptr<const PinnedRevision>& earlier, const base::Secret& key,
                                  base::MonotonicTime until);
  static base::Result<config::KeptTexts> pinnedTexts(const PinnedRevision& pinned, const base::Secret& key);
  config::ObjectSet readPinned(const Told& told, const base::Secret& key);
  config::ObjectSet unavailable(config::ObjectSet set, const std::string& awaited, const base::Secret& key) const;

  ApiClient& client_;
  net::Worker& main_;
  std::string server_;          // set before the first reading
  config::PodKeeping keeping_;  // set before the first reading, too
  const std::unique_ptr<control::Source> beside_;
  const bool narrows_;                     // only the objects that its Gateways reach are read
  control::Reloadable* reader_ = nullptr;  // once it is watched
  base::MonotonicTime lastChange_{};
  std::uint64_t serial_ = 0;
  bool changedSince_ = false;  // since it was asked to read again
  bool pins_ = false;
  bool pinKnown_ = false;
  bool revises_ = false;  // set before the first reading
  ClusterObjects objects_;
  EarlierRevisions earlier_;

  // The loading thread alone uses these.
  config::TextCache texts_;
  config::TextCache textsOfNow_;  // while something is pinned
  ReachedObjects reached_;
  std::shared_ptr<const PinnedRevision> unpackedFrom_;
  base::Result<config::KeptTexts> unpacked_ = config::KeptTexts();

  std::mutex mutex_;
  std::condition_variable news_;
  Told shared_;                                                              // under the mutex
  std::pair<std::uint64_t, std::shared_ptr<const RevisedObjects>> revised_;  // by serial, under the mutex
  bool closed_ = false;                                                      // under the mutex
  bool missed_ = false;  // under the mutex: a reading did not wait any longer
};

}  // namespace sluice::kubernetes
