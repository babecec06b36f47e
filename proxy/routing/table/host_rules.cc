#include "proxy/routing/table/host_rules.h"

namespace sluice::routing {

HostRules::HostRules(const std::vector<std::shared_ptr<const RouteCandidates>>& routes) {
  for (const auto& route : routes) {
    for (const Candidate& each : *route) {
      selectByPath_ = selectByPath_ || each.match->selectsByPath();
      if (each.match->takesConnect) {
        if (!connects_) connects_ = std::make_unique<PathTable>();
        connects_->add(each);
      }
      if (!each.match->rpc) {
        paths_.add(each);
        continue;
      }
      if (!calls_) calls_ = std::make_unique<RpcTable>();
      calls_->add(each);
    }
  }
  paths_.sort();
  if (connects_) connects_->sort();
  if (calls_) calls_->sort();
}

std::shared_ptr<const HostRules> HostRulesStore::of(const Routes& routes) {
  return made_.get(routes, [&] { return std::make_shared<const HostRules>(routes); });
}

}  // namespace sluice::routing
