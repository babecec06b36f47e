#include "proxy/routing/table/host_rules.h"

namespace sluice::routing {

HostRules::HostRules(const std::vector<std::shared_ptr<const RouteCandidates>>& routes) {
  for (const auto& route : routes) {
    for (const Candidate& each : *route) {
      selectByPath_ = selectByPath_ || each.match->selectsByPath();
      if (!each.match->rpc) {
        paths_.add(each);
        continue;
      }
      if (!calls_) calls_ = std::make_unique<RpcTable>();
      calls_->add(each);
    }
  }
  paths_.sort();
  if (calls_) calls_->sort();
}

std::shared_ptr<const HostRules> HostRulesStore::of(const std::vector<std::shared_ptr<const RouteCandidates>>& routes) {
  std::shared_ptr<const HostRules>& rules = made_[routes];
  if (!rules) rules = std::make_shared<const HostRules>(routes);
  return rules;
}

}  // namespace sluice::routing
