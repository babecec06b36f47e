// The process's connection to its Kubernetes cluster: the client of the API server, with its own resolver, on the main
// thread's loop.
//
// Belongs to the main thread. A process that is configured from files alone has none.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/base/result.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/reloader.h"
#include "proxy/kubernetes/events/event_publisher.h"
#include "proxy/kubernetes/lease/replica_reporter.h"
#include "proxy/kubernetes/revisions/object_packer.h"
#include "proxy/kubernetes/revisions/refusals.h"
#include "proxy/kubernetes/revisions/revision_recorder.h"
#include "proxy/kubernetes/source/kubernetes_source.h"
#include "proxy/kubernetes/status/cluster_controller.h"
#include "proxy/net/worker.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/cli.h"
#include "proxy/server/kubernetes/cluster_client.h"

namespace sluice::server {

class ClusterLink final : public control::ServingGate,
                          private control::ReloadObserver,
                          private kubernetes::RevisionRecorderUser,
                          private kubernetes::ReplicaReporterUser {
 public:
  /// References outlive it.
  ClusterLink(const KubernetesOptions& options, net::Worker& main, observe::MetricShard& metrics, observe::Log& log);

  /// Makes the source of the cluster's objects, which outlives the reports; `beside` may be null. Called once.
  std::unique_ptr<kubernetes::KubernetesSource> makeSource(std::unique_ptr<control::Source> beside);
  /// Reads where the API server is, and how to authenticate to it; to be called before the source is watched. The error
  /// names the file and the field.
  base::Status open();
  net::Beats& beats() { return client_; }
  /// Begins to write events to the cluster and, if this process is a controller, the statuses of the source's objects.
  /// Called once the source is watched.
  struct Replica {
    bool servesTraffic;
    std::uint16_t adminPort;  // distinguishes it from others of its machine, if it is no Pod
  };
  void report(control::Reloader& reloader, observe::EventRing& events, const Replica& replica);
  /// Returns false if this replica must wait for another one before it serves the configuration that was read.
  bool mayServe(const control::CompiledConfiguration& read) override;
  /// Gives the Lease back, if it is held, then calls `left` in a later Turn; that may take some seconds.
  void leave(std::function<void()> left);
  /// Drops all connections, inside a Turn, before the loop ends.
  void shutdown() { connection_.shutdown(); }

 private:
  void onCompiled(const control::CompiledConfiguration& compiled) override;
  void onServing(const control::CompiledConfiguration& served) override;
  void noteFailed(const control::CompiledConfiguration& served);
  void noteObjects(const control::CompiledConfiguration& compiled);
  void noteServed(const std::string& revision);
  void noteRefused(const std::string& revision, const control::CompiledConfiguration& compiled);
  std::string nameOfReplica() const;
  kubernetes::ReplicaReport makeReport() override;
  void onPin(std::shared_ptr<const kubernetes::PinnedRevision> pinned) override { source_->pin(std::move(pinned)); }
  void onPinKnown() override { source_->knowPin(); }
  void onEarlier(std::vector<kubernetes::EarlierRevision> newestFirst) override;
  void tryAgain(const std::string& digest);
  void onReleased() override { reloader_->reload(); }
  void onForgotten(const std::string& revision) override;
  void onPack(std::shared_ptr<const kubernetes::RevisedObjects> objects) override;

  const KubernetesOptions& options_;
  net::Worker& main_;
  ClusterClient connection_;
  kubernetes::ApiClient& client_;  // of connection_
  std::optional<kubernetes::EventPublisher> events_;
  std::optional<kubernetes::ReplicaReporter> reporter_;
  std::optional<kubernetes::RevisionRecorder> recorder_;
  kubernetes::Refusals refusals_;
  kubernetes::ObjectPacker packer_;
  std::optional<kubernetes::ClusterController> controller_;
  kubernetes::KubernetesSource* source_ = nullptr;
  control::Reloader* reloader_ = nullptr;          // set by report(), like revisions_
  const control::Revisions* revisions_ = nullptr;  // null in a process without traffic
  // These describe the configuration that was compiled last, for reports.
  kubernetes::ReplicaReport report_;
  std::uint64_t compiledSerial_ = 0;
  config::StatusList refusedStatuses_;  // of the newest configuration, if it is refused
  /// The newest refused revisions of the objects, with the digests that this process has for them.
  std::deque<std::pair<std::string, std::string>> refusedObjects_;
  std::string outsideOfPods_;  // the name of a replica that is no Pod
};

}  // namespace sluice::server
