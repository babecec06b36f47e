#include "proxy/compile/routes/attached/rules_at_listener.h"

#include <algorithm>
#include <utility>

namespace sluice::compile {
namespace {

RulesAtListener rulesWith(const RoutePlan& plan, const Inheritance& inheritance, bool isOwn,
                          const RulePolicyList& policies) {
  RulesAtListener made;
  for (std::size_t index = 0; index < plan.rules.size(); ++index) {
    const RulePlan& each = plan.rules[index];
    std::shared_ptr<const routing::Rule> rule = each.rule;
    for (std::size_t kind = 0; kind < inheritance.size(); ++kind) {
      if (inheritance[kind] == nullptr) continue;
      const PolicySettings* own = kind < each.own.size() ? each.own[kind].get() : nullptr;
      rule = policies[kind]->inherit(std::move(rule), *inheritance[kind], {plan, index, own, isOwn, made.found});
    }
    made.rules.push_back(std::move(rule));
  }
  made.candidates = candidatesOf(plan.rules, made.rules);
  return made;
}

}  // namespace

bool isEmpty(const Inheritance& inheritance) {
  return std::all_of(inheritance.begin(), inheritance.end(), [](const auto& each) { return each == nullptr; });
}

SharedSettings ListenerCache::shared(const std::string& listener, std::size_t kind, SharedSettings settings) {
  if (settings == nullptr) return nullptr;
  return settings_.get(
      std::pair(listener, kind), [&](const SharedSettings& before) { return sameSettings(before, settings); },
      [&] { return std::move(settings); });
}

const RulesAtListener& ListenerCache::rulesAt(const std::shared_ptr<const RoutePlan>& plan,
                                              const Inheritance& inheritance, bool isOwn,
                                              const RulePolicyList& policies, const BackendCatalog& backends) {
  const auto holds = [&](const KeptRules& before) {
    return std::all_of(before.made.rules.begin(), before.made.rules.end(),
                       [&](const auto& each) { return backends.keepGoverned(*each); });
  };
  const auto make = [&] { return KeptRules{plan, rulesWith(*plan, inheritance, isOwn, policies)}; };
  return rules_.get(Key(plan.get(), inheritance), holds, make).made;
}

void ListenerCache::sweep() {
  settings_.sweep();
  rules_.sweep();
}

}  // namespace sluice::compile
