// Prints a ClusterStatus: clusterStatusOutput() of cluster_status.h.
#include <utility>

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

Value routeInClusterValue(TextTable& table, const ObjectInCluster& route) {
  table.addJudged({route.kind, route.nameSpace, route.name}, route.faults);
  Value value = objectValue(route);
  addMembers(value, {{"parents", route.status.items}});
  return value;
}

}  // namespace

content::Output clusterStatusOutput(const ClusterStatus& status) {
  TextTable gateways({"GATEWAY", "CLASS", "ADDRESSES", "ROUTES", "REPLICAS", "STATUS"});
  TextTable replicas({"REPLICA", "GATEWAY", "SERVED", "DESIRED", "RENEWED", "STATUS"});
  TextTable routes({"KIND", "NAMESPACE", "NAME", "STATUS"});
  Value value =
      makeMap({{"server", status.server},
               {"faults", status.hasFaults()},
               {"gateways", makeList(status.gateways, [&](const auto& each) { return gatewayValue(gateways, each); })},
               {"replicas", makeList(status.replicas, [&](const auto& each) { return replicaValue(replicas, each); })},
               {"routes", makeList(status.routes, [&](const auto& each) { return routeInClusterValue(routes, each); })},
               {"ignoredReports", status.ignored},
               {"problems", status.problems}});

  std::string text = status.server + ": " + (status.hasFaults() ? "there are faults" : "all is well") + "\n\n";
  text += status.gateways.empty() ? "no Gateway has a GatewayClass of sluice\n" : gateways.text();
  if (!status.replicas.empty()) text += "\n" + replicas.text();
  if (!status.routes.empty()) text += "\n" + routes.text();
  if (status.ignored > 0) text += "\n" + std::to_string(status.ignored) + " reports of replicas count for no Gateway\n";
  if (!status.problems.empty()) text += "\n";
  for (const std::string& each : status.problems) text += each + "\n";
  return {std::move(value), std::move(text)};
}

}  // namespace sluice::server
