// Prints a ClusterStatus: clusterStatusOutput() of cluster_status.h.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "proxy/content/output/make_value.h"
#include "proxy/content/output/text_table.h"
#include "proxy/server/kubernetes/cluster_status.h"

namespace sluice::server {
namespace {

using content::addMembers;
using content::makeList;
using content::makeMap;
using content::TextTable;
using content::Value;

std::string joinedWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string objectText(const kubernetes::FailedObject& object) {
  const std::string name = object.nameSpace.empty() ? object.name : object.nameSpace + "/" + object.name;
  return object.kind + " " + name + ": " + object.reason + ": " + object.message;
}

std::vector<std::string> complaintsOf(const ReplicaInCluster& replica) {
  const kubernetes::ReplicaReport& report = replica.report;
  if (replica.gone) return {"gone"};
  std::vector<std::string> lines;
  if (report.state != control::ConfigState::kInSync) lines.emplace_back(configStateName(report.state));
  if (!report.problem.empty()) lines.push_back(report.problem);
  for (const kubernetes::FailedObject& each : report.failed) lines.push_back(objectText(each));
  if (report.listedInAll > report.failed.size()) {
    lines.push_back("and " + std::to_string(report.listedInAll - report.failed.size()) + " more conditions");
  }
  return lines;
}

// --- replicas that differ

constexpr std::size_t kMostNamedReplicas = 5;
constexpr std::size_t kMostNamedValues = 5;

/// Returns the values that `others` does not have, each for a line of its own; "nothing" if there are no values at all.
std::vector<std::string> ownValues(const std::vector<std::string>& values, const std::vector<std::string>& others) {
  std::vector<std::string> own;
  for (const std::string& each : values) {
    if (std::find(others.begin(), others.end(), each) == others.end()) own.push_back(each);
  }
  if (own.size() > kMostNamedValues) {
    const std::size_t more = own.size() - kMostNamedValues;
    own.resize(kMostNamedValues);
    own.push_back("and " + std::to_string(more) + " more");
  }
  if (own.empty() && values.empty()) own.emplace_back("nothing");
  return own;
}

/// Adds a line for each field, and names replica and Gateway once.
void addDiffering(TextTable& table, const DifferingReplica& replica, const std::string& gateway) {
  std::vector<std::string> name = {replica.replica, gateway.empty() ? "all" : gateway};
  for (const DifferingField& field : replica.fields) {
    const std::vector<std::string> has = ownValues(field.has, field.others);
    const std::vector<std::string> others = ownValues(field.others, field.has);
    for (std::size_t i = 0; i < std::max(has.size(), others.size()); ++i) {
      table.add({name[0], name[1], i == 0 ? field.name : "", i < has.size() ? has[i] : "",
                 i < others.size() ? others[i] : ""});
      name = {"", ""};
    }
  }
}

std::string differencesText(const std::vector<DifferingGroup>& groups) {
  std::size_t replicas = 0;
  std::size_t differing = 0;
  TextTable table({"REPLICA", "GATEWAY", "FIELD", "HAS", "OTHERS HAVE"});
  for (const DifferingGroup& group : groups) {
    replicas += group.replicas;
    for (const DifferingReplica& each : group.differing) {
      if (++differing <= kMostNamedReplicas) addDiffering(table, each, group.gateway);
    }
  }
  if (differing == 0) return {};
  std::string text = std::to_string(differing) + " of " + std::to_string(replicas) + " replicas " +
                     (differing == 1 ? "differs" : "differ") + " from the others:\n\n" + table.text();
  if (differing > kMostNamedReplicas) text += "and " + std::to_string(differing - kMostNamedReplicas) + " more\n";
  return text + "\n";
}

Value differingGroupValue(const DifferingGroup& group) {
  const auto field = [](const DifferingField& each) {
    return makeMap({{"name", each.name}, {"has", each.has}, {"others", each.others}});
  };
  const auto replica = [&](const DifferingReplica& each) {
    return makeMap({{"replica", each.replica}, {"fields", makeList(each.fields, field)}});
  };
  return makeMap({{"replicaOf", group.replicaOf},
                  {"gateway", group.gateway},
                  {"count", group.replicas},
                  {"differing", makeList(group.differing, replica)}});
}

// --- objects

Value objectValue(const ObjectInCluster& object) {
  return makeMap(
      {{"kind", object.kind}, {"namespace", object.nameSpace}, {"name", object.name}, {"faults", object.faults}});
}

// --- each function adds the row of a thing to its table, and returns its value

Value gatewayValue(TextTable& table, const GatewayInCluster& gateway) {
  const kubernetes::FleetVerdict& fleet = gateway.fleet;
  const std::string good =
      std::to_string(fleet.replicas - fleet.failing.size()) + " of " + std::to_string(fleet.replicas);
  table.addJudged({gateway.nameSpace + "/" + gateway.name, gateway.gatewayClass, joinedWords(gateway.addresses),
                   std::to_string(gateway.routes), good},
                  gateway.faults);
  Value value = objectValue(gateway);
  addMembers(value, {{"gatewayClass", gateway.gatewayClass},
                     {"addresses", gateway.addresses},
                     {"routes", gateway.routes},
                     {"replicas", makeMap({{"state", fleetStateName(fleet.state)},
                                           {"reason", fleet.reason},
                                           {"message", fleet.message},
                                           {"count", fleet.replicas},
                                           {"serving", fleet.serving},
                                           {"failing", fleet.failing}})},
                     {"status", gateway.status}});
  return value;
}

Value replicaValue(TextTable& table, const ReplicaInCluster& replica) {
  const kubernetes::ReplicaReport& report = replica.report;
  table.addJudged({report.nameSpace + "/" + report.replica, report.gateway.empty() ? "all" : report.gateway,
                   report.served.empty() ? "nothing" : report.served, report.desired, replica.renewed},
                  complaintsOf(replica));
  const auto failed = [](const kubernetes::FailedObject& each) {
    return makeMap({{"kind", each.kind},
                    {"namespace", each.nameSpace},
                    {"name", each.name},
                    {"revision", each.revision},
                    {"reason", each.reason},
                    {"message", each.message}});
  };
  return makeMap({{"namespace", report.nameSpace},
                  {"replica", report.replica},
                  {"replicaOf", report.replicaOf},
                  {"gateway", report.gateway},
                  {"state", configStateName(report.state)},
                  {"desired", report.desired},
                  {"served", report.served},
                  {"renewed", replica.renewed},
                  {"problem", content::ifAny(report.problem)},
                  {"gone", replica.gone},
                  {"failedInAll", report.failedInAll},
                  {"failed", makeList(report.failed, failed)}});
}

void addJudgedObject(TextTable& table, const ObjectInCluster& object) {
  table.addJudged({object.kind, object.nameSpace, object.name}, object.faults);
}

Value routeInClusterValue(const ObjectInCluster& route) {
  Value value = objectValue(route);
  addMembers(value, {{"parents", route.status.items}});
  return value;
}

Value otherObjectValue(const ObjectInCluster& object) {
  Value value = objectValue(object);
  addMembers(value, {{"status", object.status}});
  return value;
}

}  // namespace

content::Output clusterStatusOutput(const ClusterStatus& status) {
  TextTable gateways({"GATEWAY", "CLASS", "ADDRESSES", "ROUTES", "REPLICAS", "STATUS"});
  TextTable replicas({"REPLICA", "GATEWAY", "SERVED", "DESIRED", "RENEWED", "STATUS"});
  TextTable faulty({"KIND", "NAMESPACE", "NAME", "STATUS"});
  TextTable good({"KIND", "NAMESPACE", "NAME", "STATUS"});
  const auto isFaulty = [](const ObjectInCluster& object) { return !object.faults.empty(); };
  for (const ObjectInCluster& each : status.routes) addJudgedObject(isFaulty(each) ? faulty : good, each);
  for (const ObjectInCluster& each : status.others) addJudgedObject(faulty, each);
  const std::vector<DifferingGroup> differences = status.differences();
  Value value =
      makeMap({{"server", status.server},
               {"differences", makeList(differences, differingGroupValue)},
               {"faults", status.hasFaults()},
               {"gateways", makeList(status.gateways, [&](const auto& each) { return gatewayValue(gateways, each); })},
               {"replicas", makeList(status.replicas, [&](const auto& each) { return replicaValue(replicas, each); })},
               {"routes", makeList(status.routes, routeInClusterValue)},
               {"objects", makeList(status.others, otherObjectValue)},
               {"unread", status.unread},
               {"ignoredReports", status.ignored},
               {"problems", status.problems}});

  std::string text = status.server + ": " + (status.hasFaults() ? "there are faults" : "all is well") + "\n\n";
  text += differencesText(differences);
  text += status.gateways.empty() ? "no Gateway has a GatewayClass of sluice\n" : gateways.text();
  const bool anyFaulty = !status.others.empty() || std::any_of(status.routes.begin(), status.routes.end(), isFaulty);
  if (anyFaulty) text += "\n" + faulty.text();
  if (!status.replicas.empty()) text += "\n" + replicas.text();
  if (!std::all_of(status.routes.begin(), status.routes.end(), isFaulty)) text += "\n" + good.text();
  if (!status.unread.empty()) {
    text += "\nthis user may not list " + std::to_string(status.unread.size()) + " kinds: " + status.unread.front() +
            (status.unread.size() > 1 ? " and others\n" : "\n");
  }
  if (status.ignored > 0) text += "\n" + std::to_string(status.ignored) + " reports of replicas count for no Gateway\n";
  if (!status.problems.empty()) text += "\n";
  for (const std::string& each : status.problems) text += each + "\n";
  return {std::move(value), std::move(text)};
}

}  // namespace sluice::server
