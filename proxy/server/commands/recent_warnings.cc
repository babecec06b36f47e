#include "proxy/server/commands/recent_warnings.h"

#include "proxy/content/member_text.h"
#include "proxy/control/report/condition_log.h"

namespace sluice::server {

std::string recentWarnings(const content::Value& events) {
  std::string lines;
  std::size_t shown = 0;
  for (const content::Value& event : events.items) {
    const std::string& reason = memberText(event, "reason");
    if (memberText(event, "type") != "Warning" || reason == control::kNotFullyServed) continue;
    if (++shown > kMostShownWarnings) break;
    const std::string& object = memberText(event, "object");
    const std::string& count = memberText(event, "count");
    lines.append("  ").append(memberText(event, "time")).append("  ").append(reason);
    if (!object.empty()) lines.append(" ").append(object);
    lines.append(": ").append(memberText(event, "message"));
    if (count != "1") lines.append(" (").append(count).append(" times)");
    lines.append("\n");
  }
  return lines.empty() ? lines : "\nnewest warnings:\n" + lines;
}

}  // namespace sluice::server
