#include "proxy/server/commands/revisions_command.h"

#include <utility>

#include "proxy/content/member_text.h"
#include "proxy/content/output/text_table.h"
#include "proxy/processing/query_edit.h"
#include "proxy/server/commands/admin_client.h"

namespace sluice::server {

content::Output revisionsOutput(content::Value page) {
  content::TextTable table({"REVISION", "SERVED", "TIME", "TAINTED"});
  for (const content::Value& each : page.items) {
    const std::string& served = memberText(each, "served");
    const std::string& reason = memberText(each, "reason");
    table.add({memberText(each, "revision"), served.empty() ? "-" : served, memberText(each, "time"),
               reason.empty() ? "no" : reason});
  }
  return {std::move(page), table.text()};
}

int printRevisions(const net::Address& admin, OutputFormat format) {
  base::Result<content::Value> page = askAdminPage(admin, "/revisions");
  if (!page) return complain(page.error());
  print(revisionsOutput(std::move(*page)), format);
  return 0;
}

int clearRevision(const net::Address& admin, const std::string& hash) {
  const auto reply = askAdmin(admin, http::Method::kPost, "/revisions/clear?revision=" + processing::encodeQuery(hash));
  if (!reply) return complain(reply.error());
  print(*reply);
  return 0;
}

}  // namespace sluice::server
