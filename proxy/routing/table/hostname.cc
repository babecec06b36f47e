#include "proxy/routing/table/hostname.h"

namespace sluice::routing {

bool hostnamesIntersect(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a == b) return true;
  const bool wildA = a.starts_with("*.");
  const bool wildB = b.starts_with("*.");
  // With its dot a suffix matches whole labels only; "*.example.com" leaves example.com itself out.
  if (wildA && b.ends_with(a.substr(1))) return true;
  return wildB && a.ends_with(b.substr(1));
}

}  // namespace sluice::routing
