#include "proxy/http/h2/h2_priority.h"

#include <algorithm>

#include "proxy/http/grammar.h"

namespace sluice::http {

H2Priority readPriority(std::string_view value) {
  H2Priority priority;
  forEachListElement(value, [&](std::string_view element) {
    const std::string_view member = trimSpace(element.substr(0, std::min(element.find(';'), element.size())));
    if (member.size() == 3 && member.starts_with("u=") && member[2] >= '0' && member[2] <= '7') {
      priority.urgency = static_cast<std::uint8_t>(member[2] - '0');
    } else if (member == "i" || member == "i=?1") {
      priority.incremental = true;
    } else if (member == "i=?0") {
      priority.incremental = false;
    }
  });
  return priority;
}

}  // namespace sluice::http
