// The controller. From each compiled configuration it writes the statuses of the objects in the cluster and the catalog
// that the GatewayClass publishes and, if it has an image, it provisions the Gateways. Of several controllers, the
// leader writes, which holds the Lease and has claimed the GatewayClass; the others are standbys.
//
// Lives on the main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/reload_observer.h"
#include "proxy/control/state/reloadable.h"
#include "proxy/kubernetes/events/event_publisher.h"
#include "proxy/kubernetes/lease/class_claim.h"
#include "proxy/kubernetes/lease/leadership.h"
#include "proxy/kubernetes/lease/lease_holder.h"
#include "proxy/kubernetes/provision/balanced_services.h"
#include "proxy/kubernetes/provision/provisioner.h"
#include "proxy/kubernetes/provision/rollout_watch.h"
#include "proxy/kubernetes/provision/shared_role.h"
#include "proxy/kubernetes/revisions/revision_keeper.h"
#include "proxy/kubernetes/status/catalog_publisher.h"
#include "proxy/kubernetes/status/fleet_conditions.h"
#include "proxy/kubernetes/status/replica_watch.h"
#include "proxy/kubernetes/status/status_writer.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class ClusterController final : public control::ReloadObserver,
                                private LeadershipUser,
                                private ReplicaWatchUser,
                                private ProvisionerUser,
                                private RolloutWatchUser,
                                private BalancedServicesUser,
                                private SharedRoleUser,
                                private RevisionKeeperUser,
                                private FleetFacts,
                                private net::Timer {
 public:
  /// References outlive it. `reader` is asked to read again when onCompiled() must be called once more, and
  /// `revisions` are those that it has read. `candidacy` names the Lease. With an `image` it runs Pods for each
  /// Gateway.
  ClusterController(ApiClient& client, ClusterObjects& objects, EventPublisher& events, control::Reloadable& reader,
                    const control::Revisions& revisions, Candidacy candidacy, std::string image);

  void start();
  /// Writes the statuses. It must be notified of a compiled configuration after this object, which decides whose
  /// reports are trusted.
  control::ReloadObserver& statuses() { return statuses_; }
  /// Takes a configuration that was compiled from the cluster's objects; inside a Turn.
  void onCompiled(const control::CompiledConfiguration& compiled) override;
  /// Takes the report of this process itself, if it serves traffic, too.
  void onOwnReport(const ReplicaReport& report) { replicas_.seeOwn(report); }
  /// Gives the Lease back, so that another controller need not wait for its end, then calls `done`.
  void release(std::function<void()> done);

 private:
  /// Reports that come within this time are judged together, because each judgement takes every report for every route.
  static constexpr base::Duration kBetweenJudgements = std::chrono::milliseconds(500);

  void onTimer() override;
  void onLeads(bool leads) override;
  void onReports() override { judgeSoon(); }
  void onRevisionsToJudge() override { judgeSoon(); }
  void onProvisioned() override { judgeSoon(); }
  void onRollouts() override { judgeSoon(); }
  void onBalancedServices() override { judgeSoon(); }
  void onSharedRole() override;
  const ReplicaReports& reports() const override { return replicas_.reports(); }
  const ReachOfGateways& reach() const override { return reach_; }
  std::uint64_t changedAt(const config::ObjectStatus& object) const override;
  std::vector<config::Condition> conditionsOf(const config::ObjectStatus& gateway) const override;
  std::vector<config::AddressStatus> addressesOf(const config::ObjectStatus& gateway) const override;
  std::optional<config::Condition> provisionedOf(const std::string& gateway) const;
  void provision(const control::CompiledConfiguration& compiled);
  void noteReach(const std::set<NamedGateway>& gateways);
  void tellFaultsOfPods();
  void judgeSoon();
  void judgeRevisions();

  ApiClient& client_;
  ClusterObjects& objects_;
  EventPublisher& events_;
  control::Reloadable& reader_;
  const Candidacy candidacy_;
  const std::string image_;
  std::optional<std::vector<std::string>> gateways_;  // the names of those that were compiled last
  base::MonotonicTime judgedAt_{};
  ReachOfGateways reach_;  // of the newest configuration that can be served
  ReplicaWatch replicas_;
  StatusWriter statuses_;
  CatalogPublisher catalog_;
  Provisioner provisioner_;
  RolloutWatch rollouts_;
  BalancedServices services_;
  SharedRole sharedRole_;
  RevisionKeeper revisions_;
  /// The Secrets of earlier revisions that the last plan took into account; nullopt if there was no plan.
  std::optional<compile::SecretsOfGateways> broughtBack_;
  std::map<std::string, std::string> notProvisioned_;  // the last reported fault of each Gateway
  ClassClaim claim_;
  LeaseHolder lease_;
};

}  // namespace sluice::kubernetes
