#include "proxy/base/json_writer.h"
#include "proxy/content/json.h"
#include "proxy/content/output/text_table.h"
#include "proxy/server/kubernetes/cluster_status.h"

namespace sluice::server {
namespace {

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
  if (report.failedInAll > report.failed.size()) {
    lines.push_back("and " + std::to_string(report.failedInAll - report.failed.size()) + " more objects");
  }
  return lines;
}

std::string gatewaysText(const std::vector<GatewayInCluster>& gateways) {
  content::TextTable table({"GATEWAY", "CLASS", "ADDRESSES", "ROUTES", "REPLICAS", "STATUS"});
  for (const GatewayInCluster& each : gateways) {
    const std::size_t replicas = each.fleet.replicas;
    const std::string good = std::to_string(replicas - each.fleet.failing.size()) + " of " + std::to_string(replicas);
    table.addJudged({each.nameSpace + "/" + each.name, each.gatewayClass, joinedWords(each.addresses),
                     std::to_string(each.routes), good},
                    each.faults);
  }
  return table.text();
}

std::string replicasText(const std::vector<ReplicaInCluster>& replicas) {
  content::TextTable table({"REPLICA", "GATEWAY", "SERVED", "DESIRED", "RENEWED", "STATUS"});
  for (const ReplicaInCluster& each : replicas) {
    const kubernetes::ReplicaReport& report = each.report;
    table.addJudged({report.nameSpace + "/" + report.replica, report.gateway.empty() ? "all" : report.gateway,
                     report.served.empty() ? "nothing" : report.served, report.desired, each.renewed},
                    complaintsOf(each));
  }
  return table.text();
}

std::string routesText(const std::vector<ObjectInCluster>& routes) {
  content::TextTable table({"KIND", "NAMESPACE", "NAME", "STATUS"});
  for (const ObjectInCluster& each : routes) table.addJudged({each.kind, each.nameSpace, each.name}, each.faults);
  return table.text();
}

void writeTexts(base::JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).beginList();
  for (const std::string& each : texts) json.text(each);
  json.endList();
}

void writeObjectInCluster(base::JsonWriter& json, const ObjectInCluster& object) {
  json.member("kind", object.kind).member("namespace", object.nameSpace).member("name", object.name);
  writeTexts(json, "faults", object.faults);
}

void writeGateway(base::JsonWriter& json, const GatewayInCluster& gateway) {
  const kubernetes::FleetVerdict& fleet = gateway.fleet;
  json.beginObject();
  writeObjectInCluster(json, gateway);
  json.member("gatewayClass", gateway.gatewayClass);
  writeTexts(json, "addresses", gateway.addresses);
  json.member("routes", gateway.routes).key("replicas").beginObject();
  json.member("state", fleetStateName(fleet.state)).member("reason", fleet.reason).member("message", fleet.message);
  json.member("count", static_cast<std::int64_t>(fleet.replicas));
  json.member("serving", static_cast<std::int64_t>(fleet.serving));
  writeTexts(json, "failing", fleet.failing);
  json.endObject().key("status").json(content::writeJson(gateway.status)).endObject();
}

void writeReplica(base::JsonWriter& json, const ReplicaInCluster& replica) {
  const kubernetes::ReplicaReport& report = replica.report;
  json.beginObject().member("namespace", report.nameSpace).member("replica", report.replica);
  json.member("replicaOf", report.replicaOf).member("gateway", report.gateway);
  json.member("state", configStateName(report.state)).member("desired", report.desired);
  json.member("served", report.served).member("renewed", replica.renewed);
  if (!report.problem.empty()) json.member("problem", report.problem);
  json.key("gone").json(replica.gone ? "true" : "false");
  json.member("failedInAll", static_cast<std::int64_t>(report.failedInAll)).key("failed").beginList();
  for (const kubernetes::FailedObject& each : report.failed) {
    json.beginObject().member("kind", each.kind).member("namespace", each.nameSpace).member("name", each.name);
    json.member("revision", each.revision).member("reason", each.reason).member("message", each.message).endObject();
  }
  json.endList().endObject();
}

}  // namespace

std::string clusterStatusText(const ClusterStatus& status) {
  std::string text = status.server + ": " + (status.hasFaults() ? "there are faults" : "all is well") + "\n\n";
  text += status.gateways.empty() ? "no Gateway has a GatewayClass of sluice\n" : gatewaysText(status.gateways);
  if (!status.replicas.empty()) text += "\n" + replicasText(status.replicas);
  if (!status.routes.empty()) text += "\n" + routesText(status.routes);
  if (status.ignored > 0) text += "\n" + std::to_string(status.ignored) + " reports of replicas count for no Gateway\n";
  if (!status.problems.empty()) text += "\n";
  for (const std::string& each : status.problems) text += each + "\n";
  return text;
}

std::string clusterStatusJson(const ClusterStatus& status) {
  base::JsonWriter json;
  json.beginObject().member("server", status.server).key("faults").json(status.hasFaults() ? "true" : "false");
  json.key("gateways").beginList();
  for (const GatewayInCluster& each : status.gateways) writeGateway(json, each);
  json.endList().key("replicas").beginList();
  for (const ReplicaInCluster& each : status.replicas) writeReplica(json, each);
  json.endList().key("routes").beginList();
  for (const ObjectInCluster& each : status.routes) {
    json.beginObject();
    writeObjectInCluster(json, each);
    json.key("parents").json(each.status.items.empty() ? "[]" : content::writeJson(each.status)).endObject();
  }
  json.endList();
  json.member("ignoredReports", static_cast<std::int64_t>(status.ignored));
  writeTexts(json, "problems", status.problems);
  return json.endObject().take();
}

}  // namespace sluice::server
