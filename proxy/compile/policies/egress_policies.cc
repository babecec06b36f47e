#include "proxy/compile/policies/egress_policies.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sluice::compile {
namespace {

/// A compiled policy, and the object that it was made of: as long as that is the same, so is the policy.
struct CompiledEgressPolicy {
  std::shared_ptr<const config::EgressPolicy> source;
  std::shared_ptr<const routing::EgressJudge> policy;  // null if it cannot be served
  std::optional<Fault> fault;                          // then why
};

/// Returns why the policy cannot be served, whatever its rules are.
std::optional<Fault> faultBesideRules(const config::EgressPolicy& policy) {
  if (policy.clientAuthentication) {
    return fault(config::reason::kUnsupportedRule, policy.clientAuthentication->path,
                 "no listener of this gateway is a forward proxy, which could ask clients for credentials");
  }
  return alteringFault(policy.unsupported);
}

/// Compiles the rules, unless there is another fault.
CompiledEgressPolicy compileEgressPolicy(const config::EgressPolicy& source) {
  CompiledEgressPolicy compiled;
  compiled.fault = faultBesideRules(source);
  if (compiled.fault) return compiled;
  auto made = routing::EgressJudge::compile(source.meta.qualifiedName(), source.terms);
  if (made.ok()) {
    compiled.policy = std::move(made).value();
  } else {
    compiled.fault = fault(config::reason::kInvalid, "spec.rules", made.error().detail);
  }
  return compiled;
}

Fault closingFault(const config::ObjectMeta& policy, std::string_view why, const std::string& message) {
  return summary(why, policy.title() + ": " + message);
}

void closeFor(Fault fault, EgressSettings& settings) {
  if (!settings.fault) settings.fault = std::move(fault);
}

}  // namespace

std::optional<Fault> faultOfEgressPolicy(const config::EgressPolicy& policy) {
  const std::vector<base::EgressRule>& rules = policy.terms.rules;
  // Nothing else of a rule that was read can be refused.
  const bool hasPaths =
      std::any_of(rules.begin(), rules.end(), [](const auto& each) { return each.paths.has_value(); });
  return hasPaths ? compileEgressPolicy(policy).fault : faultBesideRules(policy);
}

CompiledEgressPolicies::CompiledEgressPolicies(const config::Model& model, processing::SharedStates& states)
    : model_(model), states_(states), policies_(model) {}

void CompiledEgressPolicies::add(const Candidates::PolicyCandidate& candidate, EgressSettings& settings) const {
  const config::EgressPolicy& policy = *candidate.policy;
  if (candidate.rejected != nullptr) {
    return closeFor(closingFault(policy.meta, config::reason::kInvalid, candidate.rejected->message), settings);
  }
  // The address of the object stands for its version, and the state keeps the object, so no other one gets the address.
  const std::string owner = policy.meta.title() + " @" + std::to_string(reinterpret_cast<std::uintptr_t>(&policy));
  const auto state = states_.get<CompiledEgressPolicy>(owner, [&] {
    auto made = std::make_shared<CompiledEgressPolicy>(compileEgressPolicy(policy));
    made->source = *candidate.shared;
    return std::shared_ptr<const CompiledEgressPolicy>(std::move(made));
  });
  if (state->fault) return closeFor(closingFault(policy.meta, state->fault->reason, state->fault->text()), settings);
  settings.policies.add(std::shared_ptr<const routing::EgressJudge>(state, state->policy.get()));
}

EgressSettings CompiledEgressPolicies::targeting(const config::ObjectMeta& object, std::string_view section) const {
  EgressSettings settings;
  for (const auto* each : policies_.targeting(object, {section})) add(*each, settings);
  return settings;
}

void CompiledEgressPolicies::addOfClass(std::size_t index, EgressSettings& settings) const {
  const base::NamespacedName& named = model_.settings.egressPolicies[index];
  const auto* const candidate = policies_.findNamed(named.nameSpace, named.name);
  EgressSettings own;
  if (candidate != nullptr) add(*candidate, own);
  for (const auto* policies : {&own.policies.enforced, &own.policies.audited}) {
    for (const auto& each : *policies) settings.policies.add(each);
  }
  // Gateways of other namespaces may not learn more of the policy.
  if (candidate != nullptr && !own.fault) return;
  const std::string_view why =
      candidate == nullptr ? "does not exist, or its targets cannot be read" : "is not accepted; see its status";
  closeFor(summary(config::reason::kInvalid, "the EgressPolicy that egressPolicies[" + std::to_string(index) +
                                                 "] of the settings names " + std::string(why)),
           settings);
}

EgressSettings CompiledEgressPolicies::ofListener(const config::Gateway& gateway, const std::string& listener) const {
  EgressSettings settings;
  for (std::size_t i = 0; i < model_.settings.egressPolicies.size(); ++i) addOfClass(i, settings);
  for (const auto* each : policies_.targeting(gateway.meta, {listener})) {
    const auto isSame = [&](const base::NamespacedName& named) {
      return named.nameSpace == each->policy->meta.nameSpace && named.name == each->policy->meta.name;
    };
    const auto& ofClass = model_.settings.egressPolicies;
    if (std::none_of(ofClass.begin(), ofClass.end(), isSame)) add(*each, settings);
  }
  return settings;
}

}  // namespace sluice::compile
