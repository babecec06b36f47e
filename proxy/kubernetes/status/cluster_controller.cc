#include "proxy/kubernetes/status/cluster_controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/catalog/supported_kinds.h"
#include "config/read/object_kinds.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/provision/provision_plan.h"
#include "proxy/kubernetes/provision/reporters_of_gateways.h"
#include "proxy/kubernetes/provision/restored_secrets.h"
#include "proxy/kubernetes/status/pod_conditions.h"

namespace sluice::kubernetes {
namespace {

/// Returns all Gateways, also those that cannot be read now: their revisions stay.
std::set<NamedGateway> gatewaysOf(const config::Model& model) {
  std::set<NamedGateway> gateways;
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    gateways.emplace(each.meta.kind, each.meta.nameSpace, each.meta.name);
  }
  for (const config::Rejected& each : model.rejected) {
    if (config::isKindOf<config::Gateway>(each.group, each.kind))
      gateways.emplace(each.kind, each.nameSpace, each.name);
  }
  return gateways;
}

/// Returns the namespaces that each Gateway reaches, whatever its kind.
std::map<std::string, std::set<std::string>> reachedBy(const NamesOfGateways& names) {
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [gateway, nameSpaces] : names.reached) {
    const auto& [kind, nameSpace, name] = gateway;
    reached[nameSpace + "/" + name].insert(nameSpaces.begin(), nameSpaces.end());
  }
  return reached;
}

}  // namespace

ClusterController::ClusterController(ApiClient& client, ClusterObjects& objects, EventPublisher& events,
                                     control::Reloadable& reader, const control::Revisions& revisions,
                                     Candidacy candidacy, std::string image)
    : client_(client),
      objects_(objects),
      events_(events),
      reader_(reader),
      candidacy_(candidacy),
      image_(std::move(image)),
      replicas_(client, *this),
      statuses_(client, objects, *this, revisions, /*keepsPods=*/!image_.empty()),
      catalog_(client),
      provisioner_(client, *this),
      rollouts_(client, *this),
      services_(client, *this),
      sharedRole_(client, *this),
      revisions_(client, objects.gatewaysInScope(), events, *this),
      claim_(client, candidacy, *this),
      lease_(client, std::move(candidacy), claim_) {}

void ClusterController::onCompiled(const control::CompiledConfiguration& compiled) {
  if (!compiled.readable) return;
  gateways_.emplace();
  for (const config::ObjectStatus& each : compiled.compiled.statuses) {
    if (each.shape == config::StatusShape::kGateway) gateways_->push_back(config::objectName(each));
  }
  replicas_.trust(reportersOf(compiled.model, candidacy_.nameSpace, /*keepsPods=*/!image_.empty()));
  revisions_.setMost(compiled.model.settings.revisions.keep);
  revisions_.setGateways(gatewaysOf(compiled.model));
  if (!image_.empty()) {
    provision(compiled);
  } else {
    noteReach(gatewaysOf(compiled.model));
  }
  judgeRevisions();
  const std::string& gatewayClass = compiled.model.gatewayClassName;
  const auto found = objects_.find(config::kGatewayGroup, config::GatewayClass::kKind, {"", gatewayClass});
  const config::ObjectKind* kind = config::findObjectKind(config::kGatewayGroup, config::GatewayClass::kKind);
  claim_.want(found.object == nullptr ? "" : collectionPath(*kind, found.version) + "/" + gatewayClass);
  const bool publishes = !gatewayClass.empty() && compiled.catalog != nullptr;
  catalog_.want(publishes ? config::publishedKindsJson(*compiled.catalog, gatewayClass, candidacy_.nameSpace) : "");
}

/// Provisions all Gateways, with the Secrets that their newest objects name, and those of active earlier revisions.
void ClusterController::provision(const control::CompiledConfiguration& compiled) {
  const GatewayObjects pods = podObjectsOf(compiled.model, objects_);
  rollouts_.want(pods);
  services_.want(ownedNames(pods));
  // Without settings it is not known which Pods and Secrets are permitted, so everything stays as it is.
  if (!compiled.usable()) return;
  NamesOfGateways names =
      namesOfGateways(compiled.set, compiled.model, compiled.compiled.secrets, compiled.compiled.routes);
  reach_.nameSpaces = reachedBy(names);
  compile::SecretsOfGateways readable;
  for (const auto& [gateway, own] : names.own) readable[gateway] = own.secrets;
  revisions_.setReadable(std::move(readable));
  if (!revisions_.isSettled()) return;  // a revision that is not known yet may need its Secrets
  if (!sharedRole_.answered()) return;
  broughtBack_ = revisions_.readableBesides();
  for (const auto& [gateway, earlier] : *broughtBack_) {
    std::set<std::string> reached = names.reached[gateway];
    // The settings of the GatewayClass may have named other Secrets, for themselves and the catalog.
    for (const auto& [nameSpace, name] : names.common.configMaps) reached.insert(nameSpace);
    names.own[gateway].secrets.merge(restoredSecrets(earlier, gateway, std::move(reached), compiled.model));
  }
  if (auto plan = planProvision(compiled, objects_, image_, names, sharedRole_.uid()))
    provisioner_.want(*std::move(plan));
}

/// Without Pods of its own, the controller knows of each Gateway only the namespace.
void ClusterController::noteReach(const std::set<NamedGateway>& gateways) {
  reach_ = {{}, candidacy_.nameSpace};
  for (const auto& [kind, nameSpace, name] : gateways) reach_.nameSpaces[nameSpace + "/" + name] = {nameSpace};
}

/// The plan is made from the compiled configuration, which is not kept.
void ClusterController::onSharedRole() {
  if (gateways_) reader_.reload();
}

void ClusterController::start() {
  if (!image_.empty()) sharedRole_.start();
  revisions_.start();
  lease_.start();
}

void ClusterController::judgeSoon() {
  if (!isSet()) client_.worker().timers().set(*this, std::max(judgedAt_ + kBetweenJudgements, client_.worker().now()));
}

void ClusterController::onTimer() {
  tellFaultsOfPods();
  statuses_.judge();
  judgeRevisions();
}

void ClusterController::judgeRevisions() {
  if (!gateways_) return;  // replicas may report before the Gateways are known
  judgedAt_ = client_.worker().now();
  revisions_.judge(replicas_.reports(), client_.worker().now());
  // The plan is made from the compiled configuration, which is not kept.
  if (image_.empty() || !revisions_.isSettled() || broughtBack_ == revisions_.readableBesides()) return;
  broughtBack_ = revisions_.readableBesides();
  reader_.reload();
}

std::uint64_t ClusterController::changedAt(const config::ObjectStatus& object) const {
  const ClusterObjects::NewestObject found = objects_.find(object.group, object.kind, {object.nameSpace, object.name});
  return found.object == nullptr ? 0 : found.object->changedAt;
}

/// Returns whether the Pods of a Gateway are made and get on as planned; none if the Gateway has no such condition.
std::optional<config::Condition> ClusterController::provisionedOf(const std::string& gateway) const {
  std::optional<config::Condition> provisioned = provisioner_.conditionOf(gateway);
  const std::optional<RolloutState> pods = rollouts_.stateOf(gateway);
  return provisioned && pods ? withFaultOf(*pods, *std::move(provisioned)) : provisioned;
}

std::vector<config::Condition> ClusterController::conditionsOf(const config::ObjectStatus& gateway) const {
  const std::string name = config::objectName(gateway);
  std::vector<config::Condition> known;
  if (auto provisioned = provisionedOf(name)) known.push_back(*std::move(provisioned));
  if (rollouts_.follows(name)) {
    for (config::Condition& each : podConditions(gateway.conditions, rollouts_.stateOf(name))) {
      known.push_back(std::move(each));
    }
  }
  if (auto rolledBack = revisions_.conditionOf(gateway)) known.push_back(*std::move(rolledBack));
  return known;
}

/// The compiled address of a Gateway with Pods is the name of its Service (withServiceAddresses()).
std::vector<config::AddressStatus> ClusterController::addressesOf(const config::ObjectStatus& gateway) const {
  if (image_.empty() || gateway.addresses.size() != 1) return {};
  const std::string& host = gateway.addresses.front().value;
  return services_.addressesOf({gateway.nameSpace, host.substr(0, host.find('.'))});
}

/// Reports each fault of a Gateway's Pods once.
void ClusterController::tellFaultsOfPods() {
  if (!gateways_) return;
  std::map<std::string, std::string> faults;
  for (const std::string& gateway : *gateways_) {
    const auto condition = provisionedOf(gateway);
    if (!condition || condition->status != config::ConditionStatus::kFalse) continue;
    const std::string& fault = faults[gateway] = condition->message;
    if (notProvisioned_[gateway] == fault) continue;
    const base::WallTime now = client_.worker().clock().wallNow();
    events_.tell({observe::EventType::kWarning, condition->reason, gateway, fault, 1, now, now});
  }
  notProvisioned_ = std::move(faults);
}

void ClusterController::release(std::function<void()> done) { lease_.release(std::move(done)); }

void ClusterController::onLeads(bool leads) {
  client_.log().info(leads ? "this controller leads" : "this controller does not lead any more",
                     {{"lease", candidacy_.nameSpace + "/" + candidacy_.lease}, {"identity", candidacy_.identity}});
  statuses_.lead(leads);
  catalog_.lead(leads);
  provisioner_.lead(leads);
  rollouts_.lead(leads);
  revisions_.lead(leads);
  events_.lead(leads);
}

}  // namespace sluice::kubernetes
