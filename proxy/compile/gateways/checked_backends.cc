#include "proxy/compile/gateways/checked_backends.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sluice::compile {
namespace {

void addCoverage(routing::EgressCoverage coverage, std::vector<routing::EgressCoverage>& covers, bool& isUncovered) {
  if (!coverage.any()) {
    isUncovered = true;
  } else if (std::find(covers.begin(), covers.end(), coverage) == covers.end()) {
    covers.push_back(std::move(coverage));
  }
}

}  // namespace

std::vector<routing::CheckedBackend> checkedBackends(const std::vector<GatewayPlan>& gateways,
                                                     const BackendCatalog& backends) {
  struct Gathered {
    routing::CheckedBackend backend;
    std::set<std::shared_ptr<const routing::AnswerHealth>> answers;
    std::set<std::shared_ptr<const routing::EndpointEjections>> ejections;
    bool isUncovered = false;  // some rule that uses it has no policies
  };
  std::map<const routing::HealthCheck*, Gathered> checked;
  eachRule(gateways, [&](const ListenerPlan& listener, const routing::Rule& rule) {
    for (std::size_t i = 0; i < rule.healthChecks.size(); ++i) {
      const auto& plan = rule.backends[i].backend;
      // Nobody knows which destinations requests will name.
      if (rule.healthChecks[i] == nullptr || plan == nullptr || plan->dynamic != nullptr) continue;
      Gathered& one = checked[rule.healthChecks[i].get()];
      if (one.backend.check == nullptr) {
        one.backend.check = rule.healthChecks[i];
        one.backend.backend = backends.newest(plan);
      }
      addCoverage({listener.egress, rule.egress}, one.backend.covers, one.isUncovered);
      if (rule.failover != nullptr) one.answers.insert(rule.failover->members[i].health);
      if (rule.backends[i].outliers) one.ejections.insert(rule.backends[i].outliers->ejections);
    }
  });
  std::vector<routing::CheckedBackend> result;
  for (auto& [check, gathered] : checked) {
    if (gathered.isUncovered) gathered.backend.covers.clear();
    gathered.backend.answers.assign(gathered.answers.begin(), gathered.answers.end());
    gathered.backend.ejections.assign(gathered.ejections.begin(), gathered.ejections.end());
    result.push_back(std::move(gathered.backend));
  }
  const auto key = [](const routing::CheckedBackend& each) { return std::tie(each.backend->name, each.backend->port); };
  std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return result;
}

}  // namespace sluice::compile
