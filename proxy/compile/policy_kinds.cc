#include "proxy/compile/policy_kinds.h"

#include <typeinfo>
#include <vector>

#include "config/model/client_traffic_policy.h"
#include "config/model/egress_policy.h"
#include "proxy/compile/routes/policies/egress_rules.h"
#include "proxy/compile/routes/policies/extension_rules.h"
#include "proxy/compile/routes/policies/processor_rules.h"
#include "proxy/compile/routes/policies/traffic_rules.h"
#include "proxy/compile/status/backend_tls_policy_status.h"
#include "proxy/compile/status/client_traffic_policy_status.h"
#include "proxy/compile/status/egress_policy_status.h"
#include "proxy/compile/status/extension_policy_status.h"
#include "proxy/compile/status/processor_status.h"
#include "proxy/compile/status/traffic_policy_status.h"
#include "proxy/compile/status/unsupported_policy_status.h"

namespace sluice::compile {
namespace {

using MakeRules = std::unique_ptr<const RulePolicies> (*)(const RulePolicySources& sources);
using WriteStatuses = void (*)(const StatusSources& sources, Statuses& statuses);

struct PolicyKind {
  void (*close)(const config::Model& model, ClosingPolicies& closing);
  /// Null if policies of the kind have no settings for rules.
  MakeRules rules;
  StatusEntry statuses;
};

/// Returns the line for a kind. `kCause` decides which targets the kind does not support.
template <typename Policy, CauseOf kCause>
constexpr PolicyKind policyKind(MakeRules rules, WriteStatuses statuses) {
  const auto close = [](const config::Model& model, ClosingPolicies& closing) {
    closing.addAll<Policy>(model, kCause);
  };
  return {close, rules, {&typeid(Policy), statuses}};
}

std::unique_ptr<const RulePolicies> processorRules(const RulePolicySources& sources) {
  return std::make_unique<const ProcessorRules>(sources.processors, sources.hooks);
}
std::unique_ptr<const RulePolicies> extensionRules(const RulePolicySources& sources) {
  return std::make_unique<const ExtensionRules>(sources.processors);
}
std::unique_ptr<const RulePolicies> trafficRules(const RulePolicySources& sources) {
  return std::make_unique<const TrafficRules>(sources.traffic, sources.backends, sources.states);
}
std::unique_ptr<const RulePolicies> egressRules(const RulePolicySources& sources) {
  return std::make_unique<const EgressRules>(sources.model, sources.states);
}

/// Adds the policies that demand more of clients than a verification of their certificates, which close all their
/// targets, and those that demand it of other objects than Gateways.
void closeForClients(const config::Model& model, ClosingPolicies& closing) {
  closing.addEach<config::ClientTrafficPolicy>(model, [](const config::ClientTrafficPolicy& policy, bool rejected) {
    return rejected || !policy.validation ? closing::always : closing::exceptGateways;
  });
}

constexpr PolicyKind kPolicyKinds[] = {
    policyKind<config::PayloadProcessor, closing::forServices>(processorRules, payloadProcessorStatuses),
    policyKind<config::ExtensionPolicy, closing::forDestinations>(extensionRules, extensionPolicyStatuses),
    policyKind<config::TrafficPolicy, closing::never>(trafficRules, trafficPolicyStatuses),
    policyKind<config::EgressPolicy, closing::forDestinations>(egressRules, egressPolicyStatuses),
    policyKind<config::BackendTlsPolicy, closing::exceptDestinations>(nullptr, backendTlsPolicyStatuses),
    {closeForClients, nullptr, {&typeid(config::ClientTrafficPolicy), clientTrafficPolicyStatuses}},
    policyKind<config::UnsupportedPolicy, closing::always>(nullptr, unsupportedPolicyStatuses),
};

}  // namespace

ClosingPolicies closingPolicies(const config::Model& model) {
  ClosingPolicies closing;
  for (const PolicyKind& each : kPolicyKinds) each.close(model, closing);
  return closing;
}

RulePolicyList rulePolicies(const RulePolicySources& sources) {
  RulePolicyList policies;
  for (const PolicyKind& each : kPolicyKinds) {
    if (each.rules != nullptr) policies.push_back(each.rules(sources));
  }
  return policies;
}

std::span<const StatusEntry> policyStatuses() {
  static const std::vector<StatusEntry> kStatuses = [] {
    std::vector<StatusEntry> all;
    for (const PolicyKind& each : kPolicyKinds) all.push_back(each.statuses);
    return all;
  }();
  return kStatuses;
}

}  // namespace sluice::compile
