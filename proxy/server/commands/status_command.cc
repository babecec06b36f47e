#include "proxy/server/commands/status_command.h"

#include <string>
#include <utility>
#include <vector>

#include "proxy/content/member_text.h"
#include "proxy/content/output/fact_lines.h"
#include "proxy/content/output/text_table.h"
#include "proxy/server/commands/admin_client.h"
#include "proxy/server/commands/condition_faults.h"

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
  std::string text = memberText(page, "state") + " since " + memberText(page, "since") + "\n" + revisions.take();
  if (const Value* problems = page.find("problems"); problems != nullptr && !problems->items.empty()) {
    text += "\nproblems of the desired configuration:\n";
    for (const Value& problem : problems->items) text += "  " + problemLine(problem) + "\n";
  }
  if (const Value* objects = page.find("objects"); objects != nullptr && !objects->items.empty()) {
    text += "\n" + objectsText(*objects);
  }
  return {std::move(page), std::move(text)};
}

int printStatus(const net::Address& admin, OutputFormat format) {
  base::Result<Value> page = askAdminPage(admin, "/status");
  if (!page) return complain(page.error());
  const content::Output output = statusOutput(std::move(*page));
  print(output, format);
  return memberText(output.value, "state") == "InSync" ? 0 : 1;
}

}  // namespace sluice::server
