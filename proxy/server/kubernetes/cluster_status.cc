#include "proxy/server/kubernetes/cluster_status.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "config/catalog/supported_kinds.h"
#include "config/read/object_kinds.h"
#include "config/status/conditions.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/lease/reporters.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/commands/condition_faults.h"
#include "proxy/server/kubernetes/our_status.h"

namespace sluice::server {
namespace {

using content::Value;
using kubernetes::textIn;
using kubernetes::valueIn;

/// The part of a kind in the status.
enum class StatusRole { kClass, kGateway, kRoute, kOther, kNone };

StatusRole roleOf(const config::ObjectKind& kind) {
  if (kind.isOf<config::GatewayClass>()) return StatusRole::kClass;
  if (kind.isOf<config::Gateway>()) return StatusRole::kGateway;
  if (kind.isOf<config::HttpRoute>() || kind.isOf<config::GrpcRoute>()) return StatusRole::kRoute;
  if (!kind.status) return StatusRole::kNone;
  // Another controller may have written conditions that name no controller.
  const bool isForeign = kind.group == config::kEnvoyGroup && kind.status == config::StatusShape::kConditions;
  return isForeign ? StatusRole::kNone : StatusRole::kOther;
}

/// Returns the kinds that are listed, in the order of statusCollections(); the Leases come after them.
std::vector<const config::ObjectKind*> statusKinds() {
  std::vector<const config::ObjectKind*> kinds;
  for (const config::ObjectKind& each : config::objectKinds()) {
    if (roleOf(each) != StatusRole::kNone) kinds.push_back(&each);
  }
  return kinds;
}

std::string nameInCluster(std::string_view nameSpace, std::string_view name) {
  return std::string(nameSpace) + "/" + std::string(name);
}

std::string clusterNameOf(const Value& object) {
  const Value* metadata = valueIn(&object, "metadata");
  return nameInCluster(textIn(metadata, "namespace"), textIn(metadata, "name"));
}

const std::vector<Value>& itemsIn(const Value* map, std::string_view key) {
  static const std::vector<Value> kNoItems;
  const Value* list = valueIn(map, key);
  return list == nullptr ? kNoItems : list->items;
}

/// Returns the oldest observedGeneration of the conditions; the object's own generation if none is older.
std::int64_t oldestGeneration(const Value& status, std::int64_t generation) {
  for (const Value& condition : itemsIn(&status, "conditions")) {
    generation = std::min(generation, kubernetes::numberIn(&condition, "observedGeneration").value_or(generation));
  }
  for (const content::Member& member : status.members) generation = oldestGeneration(member.value, generation);
  for (const Value& item : status.items) generation = oldestGeneration(item, generation);
  return generation;
}

/// Fills in name and faults. `status` is the part of its status that this program has written; null if there is none.
void describe(const config::ObjectKind& kind, const Value& object, const Value* status, ObjectInCluster& described) {
  const Value* metadata = valueIn(&object, "metadata");
  described.kind = kind.kind;
  described.nameSpace = textIn(metadata, "namespace");
  described.name = textIn(metadata, "name");
  if (status == nullptr) {
    described.faults.emplace_back("it has no status: no controller has looked at it");
    return;
  }
  described.status = *status;
  described.faults = conditionFaults(*status);
  const std::int64_t generation = kubernetes::numberIn(metadata, "generation").value_or(0);
  if (const std::int64_t seen = oldestGeneration(*status, generation); seen < generation) {
    described.faults.push_back("its status is about generation " + std::to_string(seen) + ", and it has generation " +
                               std::to_string(generation));
  }
}

struct OurClass {
  std::vector<std::string> faults = {};  // the faults of the class
  std::string home = {};                 // the namespace of its controller; empty if that has published nothing
};
/// Our GatewayClasses by name.
using OurClasses = std::map<std::string, OurClass, std::less<>>;

OurClasses classesOf(const std::vector<Value>& objects) {
  OurClasses classes;
  for (const Value& each : objects) {
    if (textIn(valueIn(&each, "spec"), "controllerName") != config::kControllerName) continue;
    const Value* status = valueIn(&each, "status");
    const std::string name(textIn(valueIn(&each, "metadata"), "name"));
    OurClass& found = classes[name];
    const Value* annotations = valueIn(valueIn(&each, "metadata"), "annotations");
    const std::string_view published = textIn(annotations, config::kSupportedKindsAnnotation);
    found.home = published.substr(0, published.find('/'));
    if (status == nullptr) continue;  // then its Gateways have none either
    for (const std::string& fault : conditionFaults(*status)) {
      found.faults.push_back("GatewayClass " + name + ": " + fault);
    }
  }
  return classes;
}

void addGateways(const config::ObjectKind& kind, const std::vector<Value>& objects, const OurClasses& classes,
                 std::vector<GatewayInCluster>& gateways) {
  for (const Value& each : objects) {
    const auto found = classes.find(textIn(valueIn(&each, "spec"), "gatewayClassName"));
    if (found == classes.end()) continue;
    const Value* status = valueIn(&each, "status");
    GatewayInCluster gateway;
    describe(kind, each, status, gateway);
    gateway.gatewayClass = found->first;
    const std::vector<std::string>& faults = found->second.faults;
    gateway.faults.insert(gateway.faults.begin(), faults.begin(), faults.end());
    for (const Value& condition : itemsIn(status, "conditions")) {
      gateway.keptPods = gateway.keptPods || textIn(&condition, "type") == config::condition_type::kProvisioned;
    }
    for (const Value& address : itemsIn(status, "addresses")) gateway.addresses.emplace_back(textIn(&address, "value"));
    gateways.push_back(std::move(gateway));
  }
}

/// Returns the names of the Gateways that a route names.
std::set<std::string> parentsOf(const Value& route) {
  std::set<std::string> parents;
  for (const Value& parent : itemsIn(valueIn(&route, "spec"), "parentRefs")) {
    std::string_view nameSpace = textIn(&parent, "namespace");
    if (nameSpace.empty()) nameSpace = textIn(valueIn(&route, "metadata"), "namespace");
    parents.insert(nameInCluster(nameSpace, textIn(&parent, "name")));
  }
  return parents;
}

void addRoutes(const config::ObjectKind& kind, const std::vector<Value>& objects, ClusterStatus& status) {
  for (const Value& each : objects) {
    const std::set<std::string> parents = parentsOf(each);
    bool concerned = false;
    for (GatewayInCluster& gateway : status.gateways) {
      if (!parents.contains(nameInCluster(gateway.nameSpace, gateway.name))) continue;
      ++gateway.routes;
      concerned = true;
    }
    const std::optional<Value> ours = ourStatus(kind, each);
    if (!concerned && !ours) continue;
    ObjectInCluster route;
    describe(kind, each, ours ? &*ours : nullptr, route);
    status.routes.push_back(std::move(route));
  }
}

/// Adds the objects whose status this program has written, and that have faults.
void addOthers(const config::ObjectKind& kind, const std::vector<Value>& objects, ClusterStatus& status) {
  for (const Value& each : objects) {
    const std::optional<Value> ours = ourStatus(kind, each);
    if (!ours) continue;
    ObjectInCluster object;
    describe(kind, each, &*ours, object);
    if (!object.faults.empty()) status.others.push_back(std::move(object));
  }
}

/// The reporters that are trusted, for each GatewayClass, by the same rules as in its controller.
using ReportersByClass = std::map<std::string, kubernetes::Reporters, std::less<>>;

ReportersByClass reportersOf(const OurClasses& classes, const std::vector<GatewayInCluster>& gateways) {
  ReportersByClass reporters;
  for (const auto& [name, each] : classes) reporters[name].home = each.home;
  for (const GatewayInCluster& each : gateways) {
    config::Gateway gateway;
    gateway.meta.kind = each.kind;
    gateway.meta.name = each.name;
    gateway.gatewayClassName = each.gatewayClass;
    auto& deployments = reporters[each.gatewayClass].gateways[nameInCluster(each.nameSpace, each.name)];
    if (each.keptPods) deployments.insert(kubernetes::nameOfPods(gateway));
  }
  return reporters;
}

template <typename Predicate>
bool anyOfThem(const ReportersByClass& reporters, Predicate&& predicate) {
  return std::any_of(reporters.begin(), reporters.end(), [&](const auto& each) { return predicate(each.second); });
}

// A replica that has ended is recognised by the time in its Lease, because a command that reads once cannot see whether
// the Lease is renewed.
void addReplicas(const std::vector<Value>& leases, const ReportersByClass& reporters, base::WallTime now,
                 ClusterStatus& status) {
  for (const Value& each : leases) {
    base::Result<kubernetes::ReplicaReport> report = kubernetes::readReplicaReport(each);
    const std::string_view nameSpace = textIn(valueIn(&each, "metadata"), "namespace");
    const bool counts = anyOfThem(reporters, [&](const kubernetes::Reporters& ofClass) {
      return report.ok() ? ofClass.trusts(*report) : ofClass.mayTrust(nameSpace);
    });
    if (!counts) {
      ++status.ignored;
      continue;
    }
    if (!report.ok()) {
      status.problems.push_back("Lease " + clusterNameOf(each) + ": " + report.error().detail);
      continue;
    }
    const kubernetes::LeaseRecord lease = kubernetes::readLeaseRecord(each);
    ReplicaInCluster replica{*std::move(report), lease.renewTime};
    const base::Duration duration =
        lease.leaseDurationSeconds > 0 ? std::chrono::seconds(std::min<std::int64_t>(lease.leaseDurationSeconds, 86400))
                                       : kubernetes::kReportDuration;
    replica.gone = lease.renewTime < kubernetes::apiMicroTime(now - duration);  // texts of this form compare as times
    status.replicas.push_back(std::move(replica));
  }
}

/// Judges each Gateway by the reports of all its replicas.
void judgeFleets(const ReportersByClass& reporters, ClusterStatus& status) {
  std::vector<kubernetes::SeenReport> live;
  for (const ReplicaInCluster& each : status.replicas) {
    if (!each.gone) live.push_back({each.report, {}, base::MonotonicTime()});
  }
  for (GatewayInCluster& gateway : status.gateways) {
    kubernetes::FleetQuestion question;
    question.gateway = nameInCluster(gateway.nameSpace, gateway.name);
    question.namesAll = true;
    const kubernetes::Reporters& ofClass = reporters.find(gateway.gatewayClass)->second;
    std::vector<const kubernetes::SeenReport*> reports;
    for (const kubernetes::SeenReport& each : live) {
      if (ofClass.trusts(each.report, question.gateway)) reports.push_back(&each);
    }
    gateway.fleet = kubernetes::aggregate(reports, question, base::MonotonicTime());
    const kubernetes::FleetVerdict& fleet = gateway.fleet;
    if (fleet.replicas == 0 || !fleet.failing.empty()) gateway.faults.push_back(fleet.reason + ": " + fleet.message);
  }
}

}  // namespace

bool ObjectInCluster::operator<(const ObjectInCluster& other) const {
  return std::tuple(faults.empty(), std::tie(kind, nameSpace, name)) <
         std::tuple(other.faults.empty(), std::tie(other.kind, other.nameSpace, other.name));
}

bool ReplicaInCluster::hasFaults() const {
  return !gone && (report.state != control::ConfigState::kInSync || report.failedInAll > 0);
}

bool ClusterStatus::hasFaults() const {
  const auto faulty = [](const auto& object) { return !object.faults.empty(); };
  return gateways.empty() || !problems.empty() || std::any_of(gateways.begin(), gateways.end(), faulty) ||
         std::any_of(routes.begin(), routes.end(), faulty) || !others.empty() ||
         std::any_of(replicas.begin(), replicas.end(), [](const ReplicaInCluster& each) { return each.hasFaults(); });
}

std::vector<DifferingGroup> ClusterStatus::differences() const {
  std::vector<const kubernetes::ReplicaReport*> live;
  for (const ReplicaInCluster& each : replicas) {
    if (!each.gone) live.push_back(&each.report);
  }
  return differingGroups(live);
}

std::vector<ClusterCollection> statusCollections() {
  std::vector<ClusterCollection> collections;
  for (const config::ObjectKind* kind : statusKinds()) {
    ClusterCollection collection;
    for (const std::string_view version : kind->versions) {
      collection.paths.push_back(kubernetes::collectionPath(*kind, version));
    }
    collection.optional = roleOf(*kind) == StatusRole::kOther;
    collections.push_back(std::move(collection));
  }
  collections.push_back({{kubernetes::apiPath("coordination.k8s.io", "v1") + "/leases"},
                         "labelSelector=" + processing::encodeQuery(kubernetes::kReplicaOfLabel),
                         true});
  return collections;
}

ClusterStatus readClusterStatus(ClusterLists&& lists, base::WallTime now) {
  const std::vector<const config::ObjectKind*> kinds = statusKinds();
  ClusterStatus status;
  status.server = std::move(lists.server);
  OurClasses classes;
  const auto eachOf = [&](StatusRole role, const auto& visit) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (roleOf(*kinds[i]) == role) visit(*kinds[i], lists.each[i]);
    }
  };
  eachOf(StatusRole::kClass, [&](const auto&, const auto& objects) { classes = classesOf(objects); });
  eachOf(StatusRole::kGateway,
         [&](const auto& kind, const auto& objects) { addGateways(kind, objects, classes, status.gateways); });
  eachOf(StatusRole::kRoute, [&](const auto& kind, const auto& objects) { addRoutes(kind, objects, status); });
  eachOf(StatusRole::kOther, [&](const auto& kind, const auto& objects) { addOthers(kind, objects, status); });
  status.unread = std::move(lists.refused);
  const ReportersByClass reporters = reportersOf(classes, status.gateways);
  addReplicas(lists.each[kinds.size()], reporters, now, status);
  judgeFleets(reporters, status);
  std::sort(status.gateways.begin(), status.gateways.end());
  std::sort(status.routes.begin(), status.routes.end());
  std::sort(status.others.begin(), status.others.end());
  const auto key = [](const ReplicaInCluster& each) {
    return std::tuple(!each.hasFaults(), each.gone, std::tie(each.report.nameSpace, each.report.replica));
  };
  std::sort(status.replicas.begin(), status.replicas.end(),
            [&](const ReplicaInCluster& a, const ReplicaInCluster& b) { return key(a) < key(b); });
  return status;
}

}  // namespace sluice::server
