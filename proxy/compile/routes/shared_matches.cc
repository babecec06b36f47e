#include "proxy/compile/routes/shared_matches.h"

namespace sluice::compile {

void SharedMatches::add(const RoutePlan& route) {
  for (const RulePlan& rule : route.rules) {
    for (const MatchPlan& each : rule.matches) {
      if (each.identity.empty()) continue;
      const auto number = static_cast<std::uint32_t>(owners_.size());
      Owners& owners = owners_.try_emplace(each.identity, Owners{number, &route}).first->second;
      owners.several = owners.several || owners.first != &route;
    }
  }
}

std::optional<std::uint32_t> SharedMatches::numberOf(std::string_view identity) const {
  const auto found = owners_.find(identity);
  return found != owners_.end() && found->second.several ? std::optional(found->second.number) : std::nullopt;
}

}  // namespace sluice::compile
