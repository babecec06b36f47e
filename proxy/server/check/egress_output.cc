#include "proxy/server/check/egress_output.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "proxy/base/json_writer.h"
#include "proxy/content/output/text_table.h"

namespace sluice::server {
namespace {

std::string conclusion(const EgressReport& report) {
  const std::string where = report.nameSpace.empty() ? "here" : "the namespace " + report.nameSpace;
  const std::string direct = "direct egress from " + where + " is " + std::string(verdictName(report.verdict));
  const std::size_t all = report.addresses.size();
  const auto open = std::count_if(report.addresses.begin(), report.addresses.end(),
                                  [](const JudgedAddress& each) { return each.verdict == EgressVerdict::kOpen; });
  if (open == 0) return direct;
  return direct + ": " + std::to_string(open) + " of " + std::to_string(all) + " tries got out";
}

void addRow(content::TextTable& table, const JudgedAddress& each, std::string verdict) {
  table.add({std::string(each.protocol), each.target, each.address.empty() ? "-" : each.address, std::move(verdict),
             each.happened});
}

void writeAddresses(base::JsonWriter& json, const std::vector<JudgedAddress>& addresses, bool judged) {
  json.key("addresses").beginList();
  for (const JudgedAddress& each : addresses) {
    json.beginObject().member("target", each.target).member("protocol", each.protocol);
    if (!each.address.empty()) json.member("address", each.address);
    if (judged) json.member("verdict", verdictName(each.verdict));
    json.member("reason", each.reason).member("message", each.happened);
    if (!each.address.empty()) {
      json.member("milliseconds", std::chrono::duration_cast<std::chrono::milliseconds>(each.took).count());
    }
    json.endObject();
  }
  json.endList();
}

}  // namespace

std::string egressText(const EgressReport& report) {
  content::TextTable table({"PROTOCOL", "TARGET", "ADDRESS", "DIRECT EGRESS", "WHAT HAPPENED"});
  for (const JudgedAddress& each : report.addresses) addRow(table, each, std::string(verdictName(each.verdict)));
  if (report.gateway) {
    for (const JudgedAddress& each : report.gateway->addresses) addRow(table, each, "(the gateway)");
  }
  std::string text = table.text() + "\n" + conclusion(report) + "\n";
  if (report.gateway) {
    text += "the gateway " + report.gateway->target + (report.gateway->reachable ? " is" : " is not") + " reachable\n";
  }
  if (!report.advice.empty()) text += "\nwhat to do:\n";
  for (const std::string& each : report.advice) text += "- " + each + "\n";
  return text;
}

std::string egressJson(const EgressReport& report) {
  base::JsonWriter json;
  json.beginObject().member("verdict", verdictName(report.verdict));
  if (!report.nameSpace.empty()) json.member("namespace", report.nameSpace);
  writeAddresses(json, report.addresses, true);
  if (report.gateway) {
    json.key("gateway").beginObject().member("target", report.gateway->target);
    json.key("reachable").json(report.gateway->reachable ? "true" : "false");
    writeAddresses(json, report.gateway->addresses, false);
    json.endObject();
  }
  json.key("advice").beginList();
  for (const std::string& each : report.advice) json.text(each);
  return json.endList().endObject().take();
}

}  // namespace sluice::server
