#include "proxy/server/commands/status_command.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/content/member_text.h"
#include "proxy/content/output/fact_lines.h"
#include "proxy/content/output/text_table.h"
#include "proxy/server/commands/admin_client.h"
#include "proxy/server/commands/condition_faults.h"
#include "proxy/server/commands/recent_warnings.h"

namespace sluice::server {
namespace {

using content::Value;

std::string problemLine(const Value& problem) {
  std::string line;
  for (const char* name : {"file", "line", "column"}) {
    const std::string& part = memberText(problem, name);
    if (!part.empty()) line += (line.empty() ? "" : ":") + part;
  }
  for (const char* name : {"severity", "object", "field", "message"}) {
    const std::string& part = memberText(problem, name);
    if (!part.empty()) line += (line.empty() ? "" : ": ") + part;
  }
  return line;
}

/// Returns the items of a list; none if it is not there.
const std::vector<Value>& listIn(const Value& page, std::string_view key) {
  static const std::vector<Value> kNoItems;
  const Value* list = page.find(key);
  return list != nullptr ? list->items : kNoItems;
}

/// Returns the number of objects with faults, those that the page does not list included.
std::uint64_t faultyObjectsIn(const Value& page) {
  std::uint64_t count = listIn(page, "faultyObjects").size();
  for (const Value& others : listIn(page, "faultyObjectsLeftOut")) {
    const std::string& text = memberText(others, "count");
    std::uint64_t more = 0;
    std::from_chars(text.data(), text.data() + text.size(), more);
    count += more;
  }
  return count;
}

std::string faultLine(const Value& fault) {
  const std::string& kind = memberText(fault, "kind");
  const std::string& nameSpace = memberText(fault, "namespace");
  const std::string& condition = memberText(fault, "condition");
  std::string line = kind.empty() ? "an object that cannot be read" : kind + " ";
  if (!nameSpace.empty()) line += nameSpace + "/";
  line += memberText(fault, "name") + ": ";
  if (!condition.empty()) line += condition + ", ";
  return line + memberText(fault, "reason") + ": " + memberText(fault, "message");
}

std::string faultsText(const Value& page) {
  const std::vector<Value>& faults = listIn(page, "faultyObjects");
  if (faults.empty()) return {};
  std::string text = "\nobjects with faults:\n";
  for (const Value& each : faults) text += "  " + faultLine(each) + "\n";
  for (const Value& others : listIn(page, "faultyObjectsLeftOut")) {
    const std::string& nameSpace = memberText(others, "namespace");
    text += "  " + memberText(others, "count") + " more " +
            (nameSpace.empty() ? "without a namespace" : "in namespace " + nameSpace) + "\n";
  }
  return text;
}

std::string objectsText(const Value& objects) {
  content::TextTable table({"KIND", "NAMESPACE", "NAME", "SERVED", "SINCE", "STATUS"});
  for (const Value& object : objects.items) {
    const Value* status = object.find("status");
    const std::string& served = memberText(object, "servedRevision");
    table.addJudged({memberText(object, "kind"), memberText(object, "namespace"), memberText(object, "name"),
                     served.empty() ? "nothing" : served, memberText(object, "servedSince")},
                    status != nullptr ? conditionFaults(*status) : std::vector<std::string>());
  }
  return table.text();
}

}  // namespace

content::Output statusOutput(Value page) {
  const std::string& served = memberText(page, "served");
  content::FactLines revisions(11);
  revisions.add("desired", memberText(page, "desired")).add("published", memberText(page, "published"));
  revisions.add("served", served.empty() ? "nothing" : served);
  if (const std::string& zone = memberText(page, "zone"); !zone.empty()) revisions.add("zone", zone);
  std::string text = memberText(page, "state") + " since " + memberText(page, "since") + "\n";
  if (const std::uint64_t faulty = faultyObjectsIn(page); faulty > 0) {
    text += "degraded: " + std::to_string(faulty) + (faulty == 1 ? " object has a fault\n" : " objects have faults\n");
  }
  text += revisions.take();
  if (const Value* problems = page.find("problems"); problems != nullptr && !problems->items.empty()) {
    text += "\nproblems of the desired configuration:\n";
    for (const Value& problem : problems->items) text += "  " + problemLine(problem) + "\n";
  }
  text += faultsText(page);
  if (const Value* objects = page.find("objects"); objects != nullptr && !objects->items.empty()) {
    text += "\n" + objectsText(*objects);
  }
  return {std::move(page), std::move(text)};
}

bool isWell(const Value& page) { return memberText(page, "state") == "InSync" && faultyObjectsIn(page) == 0; }

int printStatus(const net::Address& admin, OutputFormat format) {
  base::Result<Value> page = askAdminPage(admin, "/status");
  if (!page) return complain(page.error());
  content::Output output = statusOutput(std::move(*page));
  if (const base::Result<Value> events = askAdminPage(admin, "/events"); events.ok()) {
    output.text += recentWarnings(*events);
  }
  print(output, format);
  return isWell(output.value) ? 0 : 1;
}

}  // namespace sluice::server
