#include "proxy/compile/routes/policies/tag_rules.h"

#include <optional>
#include <string_view>
#include <utility>

#include "proxy/compile/routes/compile_route.h"

namespace sluice::compile {
namespace {

struct Tags {
  std::optional<std::string> team = std::nullopt;
  std::optional<std::string> cost = std::nullopt;
  std::optional<Fault> fault = std::nullopt;  // of a policy that its schema refused

  friend bool operator==(const Tags&, const Tags&) = default;
};

using TagCandidates = AttachedPolicies<config::TagPolicy>;

void inheritTags(const TagCandidates::PolicyCandidate* candidate, Tags& tags) {
  if (candidate == nullptr) return;
  const config::TagPolicy& policy = *candidate->policy;
  if (!tags.team) tags.team = policy.team;
  if (!tags.cost) tags.cost = policy.cost;
  if (candidate->rejected == nullptr || tags.fault) return;
  tags.fault = summary(config::reason::kInvalid, policy.meta.title() + ": " + candidate->rejected->message);
}

SharedSettings tagsOf(const TagCandidates& policies, const config::ObjectMeta& object, std::string_view section) {
  Tags tags;
  if (!section.empty()) inheritTags(policies.findExactly(object, {section}), tags);
  inheritTags(policies.findExactly(object, {}), tags);
  return tags == Tags() ? nullptr : sharedSettings(std::move(tags));
}

void applyTags(const Tags& tags, routing::Rule& rule) {
  if (tags.fault && !rule.failure) rule.failure = routing::Rule::refusal(answer(*tags.fault), rule.grpc);
  routing::HeaderEdit edit = rule.responseHeaders ? *rule.responseHeaders : routing::HeaderEdit();
  if (tags.team) edit.set.emplace_back("x-team", *tags.team);
  if (tags.cost) edit.set.emplace_back("x-cost", *tags.cost);
  rule.responseHeaders = base::Box<routing::HeaderEdit>(std::move(edit));
}

}  // namespace

SharedSettings TagRules::ofRule(const RoutePlan& route, const RulePlan& rule) const {
  return tagsOf(policies_, route.route->meta, rule.name);
}

void TagRules::applyToRule(const PolicySettings* own, const RuleInMaking& rule) const {
  if (own == nullptr) return;
  const auto& tags = settingsAs<Tags>(*own);
  if (!rule.fault) rule.fault = tags.fault;
  applyTags(tags, rule.rule);
}

HandedDown TagRules::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  HandedDown result;
  result.settings = tagsOf(policies_, gateway.meta, listener);
  if (result.settings == nullptr) return result;
  if (const auto& fault = settingsAs<Tags>(*result.settings).fault) result.closing = result.told = {*fault};
  return result;
}

std::shared_ptr<const routing::Rule> TagRules::inherit(std::shared_ptr<const routing::Rule> rule,
                                                       const PolicySettings& inherited,
                                                       const RuleAtListener& at) const {
  Tags tags = settingsAs<Tags>(inherited);
  const Tags own = at.own == nullptr ? Tags() : settingsAs<Tags>(*at.own);
  if (own.team) tags.team.reset();
  if (own.cost) tags.cost.reset();
  auto tagged = std::make_shared<routing::Rule>(*rule);
  applyTags(tags, *tagged);
  return tagged;
}

}  // namespace sluice::compile
