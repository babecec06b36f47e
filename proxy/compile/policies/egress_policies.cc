#include "proxy/compile/policies/egress_policies.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proxy/compile/policies/client_authentications.h"
#include "proxy/compile/policies/egress_visibility.h"

namespace sluice::compile {
namespace {

/// A compiled policy, and the object that it was made of: as long as that is the same, so is the policy.
struct CompiledEgressPolicy {
  std::shared_ptr<const config::EgressPolicy> source;
  std::shared_ptr<const routing::EgressJudge> policy;  // null if it cannot be served
  std::optional<Fault> fault;                          // then why
};

/// Compiles the rules, unless there is another fault.
CompiledEgressPolicy compileEgressPolicy(const config::EgressPolicy& source) {
  CompiledEgressPolicy compiled;
  compiled.fault = alteringFault(source.unsupported);
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

std::optional<Fault> faultOfEgressPolicy(const config::EgressPolicy& policy, const config::Model& model) {
  const std::vector<base::EgressRule>& rules = policy.terms.rules;
  // Nothing else of a rule that was read can be refused.
  const bool hasPaths =
      std::any_of(rules.begin(), rules.end(), [](const auto& each) { return each.paths.has_value(); });
  std::optional<Fault> why = hasPaths ? compileEgressPolicy(policy).fault : alteringFault(policy.unsupported);
  if (why || !authenticates(policy)) return why;
  processing::SharedStates unshared;
  auto authentication = authenticationOf(policy, model, unshared);
  if (!authentication) why = std::move(authentication.fault);
  return why;
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

EgressSettings CompiledEgressPolicies::targeting(const config::ObjectMeta& route, std::string_view rule) const {
  EgressSettings settings;
  for (const auto* each : policies_.targeting(route, {rule})) {
    add(*each, settings);
    if (each->rejected != nullptr) continue;
    auto unseen = unseenAt(*each->policy, route, rule);
    if (unseen) closeFor(closingFault(each->policy->meta, unseen->reason, unseen->text()), settings);
  }
  return settings;
}

/// Returns the fault of a policy for a rule of the route if the target that covers the rule takes tunnels alone, which
/// do not show what the policy's rules give.
std::optional<Fault> CompiledEgressPolicies::unseenAt(const config::EgressPolicy& policy,
                                                      const config::ObjectMeta& route, std::string_view rule) const {
  static const EgressWays kTunnels = {routing::EgressWay::kConnect};
  static const EgressWays kOfProxies = {routing::EgressWay::kAbsolute, routing::EgressWay::kConnect};
  if (!unseenRule(policy, kTunnels)) return std::nullopt;
  for (const config::PolicyTarget& target : policy.targets) {
    const bool covers = target.means(route) && (target.sectionName.empty() || target.names({rule}));
    if (!covers) continue;
    auto unseen = unseenRule(policy, waysOfRoute(model_, route, target.sectionName, kOfProxies));
    if (unseen) return unseen;
  }
  return std::nullopt;
}

/// Adds the Secret of a clientAuthentication, which the Pods of the Gateway must be able to read.
void CompiledEgressPolicies::addPasswords(const config::EgressPolicy& policy, const SecretTrust& trust,
                                          EgressSettings& settings) const {
  const auto secret = passwordsOf(policy, model_);
  if (secret) {
    settings.secrets.insert(*secret);
    auto refused = trust.faultOf({*secret}, {policy.meta.nameSpace, policy.clientAuthentication->secretRef.nameSpace});
    if (refused) return closeFor(closingFault(policy.meta, refused->reason, refused->text()), settings);
  }
  auto authentication = authenticationOf(policy, model_, states_);
  const Fault& why = authentication.fault;
  if (!authentication) closeFor(closingFault(policy.meta, why.reason, why.text()), settings);
}

/// Adds a policy for the Gateway or one of its listeners.
void CompiledEgressPolicies::addAt(const config::Gateway& gateway, const Candidates::PolicyCandidate& candidate,
                                   EgressSettings& settings) const {
  add(candidate, settings);
  const bool isServed = candidate.rejected == nullptr && authenticates(*candidate.policy);
  if (isServed) addPasswords(*candidate.policy, SecretTrust(model_, gateway), settings);
}

void CompiledEgressPolicies::addOfClass(std::size_t index, const config::Gateway& gateway,
                                        EgressSettings& settings) const {
  const base::NamespacedName& named = model_.settings.egressPolicies[index];
  const auto* const candidate = policies_.findNamed(named.nameSpace, named.name);
  EgressSettings own;
  if (candidate != nullptr) addAt(gateway, *candidate, own);
  settings.secrets.insert(own.secrets.begin(), own.secrets.end());
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
  for (std::size_t i = 0; i < model_.settings.egressPolicies.size(); ++i) addOfClass(i, gateway, settings);
  for (const auto* each : policies_.targeting(gateway.meta, {listener})) {
    const auto isSame = [&](const base::NamespacedName& named) {
      return named.nameSpace == each->policy->meta.nameSpace && named.name == each->policy->meta.name;
    };
    const auto& ofClass = model_.settings.egressPolicies;
    if (std::none_of(ofClass.begin(), ofClass.end(), isSame)) addAt(gateway, *each, settings);
  }
  const config::EgressPolicy* const policy = authenticating(gateway, listener);
  if (policy != nullptr && !settings.fault) {
    settings.authentication = authenticationOf(*policy, model_, states_).value.value_or(nullptr);
  }
  return settings;
}

/// Returns the policy whose clientAuthentication applies at the listener: one for the listener, else one for its
/// Gateway, else one that the settings name. Returns nullptr if there is none.
const config::EgressPolicy* CompiledEgressPolicies::authenticating(const config::Gateway& gateway,
                                                                   const std::string& listener) const {
  const auto* found = policies_.findExactly(gateway.meta, {listener}, authenticates);
  if (found == nullptr) found = policies_.findExactly(gateway.meta, {}, authenticates);
  for (const base::NamespacedName& named : model_.settings.egressPolicies) {
    if (found != nullptr) break;
    const auto* const ofClass = policies_.findNamed(named.nameSpace, named.name);
    if (ofClass != nullptr && authenticates(*ofClass->policy)) found = ofClass;
  }
  return found != nullptr ? found->policy : nullptr;
}

}  // namespace sluice::compile
