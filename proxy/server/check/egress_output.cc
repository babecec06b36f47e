#include "proxy/server/check/egress_output.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "proxy/content/output/make_value.h"
#include "proxy/content/output/text_table.h"

namespace sluice::server {
namespace {

using content::addMembers;
using content::ifAny;
using content::makeList;
using content::makeMap;
using content::Value;

std::string conclusion(const EgressReport& report) {
  const std::string where = report.nameSpace.empty() ? "here" : "the namespace " + report.nameSpace;
  const std::string direct = "direct egress from " + where + " is " + std::string(verdictName(report.verdict));
  const std::size_t all = report.addresses.size();
  const auto open = std::count_if(report.addresses.begin(), report.addresses.end(),
                                  [](const JudgedAddress& each) { return each.verdict == EgressVerdict::kOpen; });
  if (open == 0) return direct;
  return direct + ": " + std::to_string(open) + " of " + std::to_string(all) + " tries got out";
}

/// Adds a row, and returns the value. Nothing is judged about the addresses of the gateway itself.
Value triedValue(content::TextTable& table, const JudgedAddress& tried, bool judged) {
  const std::string verdict(verdictName(tried.verdict));
  table.add({std::string(tried.protocol), tried.target, tried.address.empty() ? "-" : tried.address,
             judged ? verdict : "(the gateway)", tried.happened});
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(tried.took).count();
  return makeMap({{"target", tried.target},
                  {"protocol", tried.protocol},
                  {"address", ifAny(tried.address)},
                  {"verdict", judged ? ifAny(verdict) : std::nullopt},
                  {"reason", tried.reason},
                  {"message", tried.happened},
                  {"milliseconds", tried.address.empty() ? std::nullopt : std::optional(took)}});
}

}  // namespace

content::Output egressOutput(const EgressReport& report) {
  content::TextTable table({"PROTOCOL", "TARGET", "ADDRESS", "DIRECT EGRESS", "WHAT HAPPENED"});
  const auto target = [&](const JudgedAddress& each) { return triedValue(table, each, true); };
  const auto gateway = [&](const JudgedAddress& each) { return triedValue(table, each, false); };
  Value value = makeMap({{"verdict", verdictName(report.verdict)},
                         {"namespace", ifAny(report.nameSpace)},
                         {"addresses", makeList(report.addresses, target)}});
  std::string gatewayText;
  if (report.gateway) {
    gatewayText =
        "the gateway " + report.gateway->target + (report.gateway->reachable ? " is" : " is not") + " reachable\n";
    addMembers(value, {{"gateway", makeMap({{"target", report.gateway->target},
                                            {"reachable", report.gateway->reachable},
                                            {"addresses", makeList(report.gateway->addresses, gateway)}})}});
  }
  addMembers(value, {{"advice", report.advice}});
  std::string text = table.text() + "\n" + conclusion(report) + "\n" + gatewayText;
  if (!report.advice.empty()) text += "\nwhat to do:\n";
  for (const std::string& each : report.advice) text += "- " + each + "\n";
  return {std::move(value), std::move(text)};
}

}  // namespace sluice::server
