#include "proxy/routing/policy/egress/egress_judge.h"

#include <utility>

namespace sluice::routing {

static_assert(RuleSet<kMostRuleWords>::kRules == base::kMostEgressRules);

EgressJudge::EgressJudge(std::string name, const base::EgressTerms& terms, Tables tables)
    : name_(std::move(name)),
      audits_(terms.audits),
      deniesByDefault_(!terms.allowsByDefault),
      tables_(std::move(tables)) {
  for (const base::EgressRule& each : terms.rules) names_.push_back(each.name);
}

base::Result<std::shared_ptr<const EgressJudge>> EgressJudge::compile(std::string name,
                                                                      const base::EgressTerms& terms) {
  auto paths = EgressPaths::compile(terms.rules);
  if (!paths.ok()) return paths.error();
  Tables tables = terms.rules.size() <= RuleSet<1>::kRules
                      ? Tables(EgressTables<1>(terms, std::move(paths).value()))
                      : Tables(EgressTables<kMostRuleWords>(terms, std::move(paths).value()));
  return std::shared_ptr<const EgressJudge>(
      std::unique_ptr<EgressJudge>(new EgressJudge(std::move(name), terms, std::move(tables))));
}

}  // namespace sluice::routing
