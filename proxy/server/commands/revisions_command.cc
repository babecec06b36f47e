#include "proxy/server/commands/revisions_command.h"

#include <cstdio>

#include "proxy/content/json.h"
#include "proxy/content/output/text_table.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

std::string cell(const content::Value& revision, std::string_view name) {
  const content::Value* found = revision.find(name);
  return found != nullptr ? found->text : std::string();
}

/// Prints the error of an answer. Returns false if the answer is good.
bool isWrong(const base::Result<AdminReply>& reply) {
  if (reply.ok() && reply.value().status == 200) return false;
  const std::string why = reply.ok() ? reply.value().body : reply.error().detail + "\n";
  std::fprintf(stderr, "%s", why.c_str());
  return true;
}

}  // namespace

std::string revisionsText(std::string_view document) {
  const auto parsed = content::parseJson(document);
  if (!parsed.ok()) return "the gateway's answer is not understood: " + parsed.error().detail + "\n";
  content::TextTable table({"REVISION", "SERVED", "TIME", "TAINTED"});
  for (const content::Value& each : parsed->items) {
    const std::string served = cell(each, "served");
    const std::string reason = cell(each, "reason");
    table.add(
        {cell(each, "revision"), served.empty() ? "-" : served, cell(each, "time"), reason.empty() ? "no" : reason});
  }
  return table.text();
}

int printRevisions(const net::Address& admin, OutputFormat format) {
  const auto reply = askAdmin(admin, http::Method::kGet, "/revisions");
  if (isWrong(reply)) return 1;
  print(format == OutputFormat::kText ? revisionsText(reply.value().body) : inFormat(reply.value().body, format));
  return 0;
}

int clearRevision(const net::Address& admin, const std::string& hash) {
  const auto reply = askAdmin(admin, http::Method::kPost, "/revisions/clear?revision=" + processing::encodeQuery(hash));
  if (isWrong(reply)) return 1;
  print(reply.value().body);
  return 0;
}

}  // namespace sluice::server
