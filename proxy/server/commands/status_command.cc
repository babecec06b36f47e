#include "proxy/server/commands/status_command.h"

#include <cstdio>

#include "proxy/content/json.h"
#include "proxy/content/output/text_table.h"
#include "proxy/server/commands/admin_client.h"
#include "proxy/server/commands/condition_faults.h"

namespace sluice::server {
namespace {

using content::Value;

/// Returns "" if there is no such member.
std::string memberOf(const Value& value, std::string_view name) {
  const Value* found = value.find(name);
  return found != nullptr ? found->text : std::string();
}

std::string problemLine(const Value& problem) {
  std::string line;
  for (const char* name : {"file", "line", "column"}) {
    const std::string part = memberOf(problem, name);
    if (!part.empty()) line += (line.empty() ? "" : ":") + part;
  }
  for (const char* name : {"severity", "object", "field", "message"}) {
    const std::string part = memberOf(problem, name);
    if (!part.empty()) line += (line.empty() ? "" : ": ") + part;
  }
  return line;
}

std::string objectsText(const Value& objects) {
  content::TextTable table({"KIND", "NAMESPACE", "NAME", "SERVED", "SINCE", "STATUS"});
  for (const Value& object : objects.items) {
    const Value* status = object.find("status");
    const std::string served = memberOf(object, "servedRevision");
    table.addJudged({memberOf(object, "kind"), memberOf(object, "namespace"), memberOf(object, "name"),
                     served.empty() ? "nothing" : served, memberOf(object, "servedSince")},
                    status != nullptr ? conditionFaults(*status) : std::vector<std::string>());
  }
  return table.text();
}

}  // namespace

std::string statusText(std::string_view document) {
  const auto parsed = content::parseJson(document);
  if (!parsed.ok()) return "the gateway's answer is not understood: " + parsed.error().detail + "\n";
  const Value& status = *parsed;
  const std::string served = memberOf(status, "served");
  std::string text = memberOf(status, "state") + " since " + memberOf(status, "since") + "\ndesired    " +
                     memberOf(status, "desired") + "\npublished  " + memberOf(status, "published") + "\nserved     " +
                     (served.empty() ? "nothing" : served) + "\n";
  if (const Value* problems = status.find("problems"); problems != nullptr && !problems->items.empty()) {
    text += "\nproblems of the desired configuration:\n";
    for (const Value& problem : problems->items) text += "  " + problemLine(problem) + "\n";
  }
  if (const Value* objects = status.find("objects"); objects != nullptr && !objects->items.empty()) {
    text += "\n" + objectsText(*objects);
  }
  return text;
}

int printStatus(const net::Address& admin, OutputFormat format) {
  const auto reply = askAdmin(admin, http::Method::kGet, "/status");
  if (!reply.ok()) {
    std::fprintf(stderr, "%s\n", reply.error().detail.c_str());
    return 1;
  }
  if (reply->status != 200) {
    std::fprintf(stderr, "%s", reply->body.c_str());
    return 1;
  }
  print(format == OutputFormat::kText ? statusText(reply->body) : inFormat(reply->body, format));
  const auto parsed = content::parseJson(reply->body);
  return parsed.ok() && memberOf(*parsed, "state") == "InSync" ? 0 : 1;
}

}  // namespace sluice::server
