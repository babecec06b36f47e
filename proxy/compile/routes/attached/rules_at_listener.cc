#include "proxy/compile/routes/attached/rules_at_listener.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/routes/attached/shielded_rule.h"

namespace sluice::compile {
namespace {

/// Makes the rules of one route at one listener.
class InheritingRules {
 public:
  InheritingRules(const RoutePlan& plan, const Inheritance& inheritance, bool isOwn, const GovernTools& tools)
      : plan_(plan), inheritance_(inheritance), isOwn_(isOwn), tools_(tools) {}

  RulesAtListener make() && {
    for (std::size_t index = 0; index < plan_.rules.size(); ++index) made_.rules.push_back(ruleAt(index));
    made_.candidates = candidatesOf(plan_.rules, made_.rules);
    return std::move(made_);
  }

 private:
  std::shared_ptr<const routing::Rule> ruleAt(std::size_t index) {
    const RulePlan& plan = plan_.rules[index];
    std::shared_ptr<const routing::Rule> rule = plan.rule;
    if (inheritance_.uses != nullptr) rule = shielded(std::move(rule), *inheritance_.uses, index);
    if (inheritance_.traffic == nullptr) return rule;
    GovernedRule governed =
        governedRule(plan, std::move(rule), plan_.route->meta.nameSpace, *inheritance_.traffic, tools_);
    if (governed.fault) made_.dropped.push_back(ofRule(index, *governed.fault));
    return std::move(governed.rule);
  }

  /// Returns the rule with these uses, and notes those that it refuses.
  std::shared_ptr<const routing::Rule> shielded(std::shared_ptr<const routing::Rule> rule, const ListenerUses& uses,
                                                std::size_t index) {
    ShieldedRule result = shieldedRule(std::move(rule), uses.shielded);
    for (const std::size_t use : result.exposed) {
      made_.exposed.push_back(use);
      const RefusedUse& refused = uses.shielded[use].refused;
      const std::string message =
          isOwn_ ? refused.origin + refused.fault.text()
                 : "a payload processor of another namespace cannot run for it (" + refused.fault.reason + ")";
      Fault why = ofRule(index, fault(refused.fault.reason, message));
      if (refused.open) {
        made_.notes.push_back(noteOf(withConsequence(std::move(why), kLeftOut)));
      } else {
        made_.dropped.push_back(std::move(why));
      }
    }
    return inheritingRule(std::move(result.rule), uses.inherited);
  }

  const RoutePlan& plan_;
  const Inheritance& inheritance_;
  const bool isOwn_;
  const GovernTools& tools_;
  RulesAtListener made_;
};

}  // namespace

std::shared_ptr<const ListenerUses> ListenerCache::shared(const std::string& listener, ListenerUses uses) {
  if (uses.empty()) return nullptr;
  return uses_.get(
      listener, [&](const auto& before) { return *before == uses; },
      [&] { return std::make_shared<const ListenerUses>(std::move(uses)); });
}

std::shared_ptr<const ListenerTraffic> ListenerCache::shared(const std::string& listener, ListenerTraffic traffic) {
  if (traffic.settings.empty()) return nullptr;
  return traffic_.get(
      listener, [&](const auto& before) { return *before == traffic; },
      [&] { return std::make_shared<const ListenerTraffic>(std::move(traffic)); });
}

const RulesAtListener& ListenerCache::rulesAt(const std::shared_ptr<const RoutePlan>& plan,
                                              const Inheritance& inheritance, bool isOwn, const GovernTools& tools) {
  const auto holds = [&](const KeptRules& before) {
    return inheritance.traffic == nullptr ||
           std::all_of(before.made.rules.begin(), before.made.rules.end(),
                       [&](const auto& each) { return tools.backends.keepGoverned(*each); });
  };
  const auto make = [&] {
    return KeptRules{plan, inheritance, InheritingRules(*plan, inheritance, isOwn, tools).make()};
  };
  return rules_.get(Key(plan.get(), inheritance.uses.get(), inheritance.traffic.get()), holds, make).made;
}

void ListenerCache::sweep() {
  uses_.sweep();
  traffic_.sweep();
  rules_.sweep();
}

}  // namespace sluice::compile
