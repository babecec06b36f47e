// The table of policy kinds defines how each type of policy attaches to its targets. This is the control plane's half
// of such a kind; config/read/object_kinds.h has the other half.
//
// Each kind of policy is one line here, with three functions: for the targets that it does not support, for rules, and
// for its statuses. The order of the lines is the order in which kinds apply to a rule.
#pragma once

#include <memory>
#include <span>

#include "config/model/model.h"
#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/routes/rule_policies.h"
#include "proxy/compile/status/status_table.h"
#include "proxy/processing/shared_states.h"

namespace sluice::compile {

/// The policies of rules are made from these sources, which must outlive them.
struct RulePolicySources {
  const config::Model& model;
  const ProcessorCompiler& processors;
  std::shared_ptr<const ExtensionHooks> hooks;
  const BackendCatalog& backends;
  const TrafficPolicies& traffic;
  processing::SharedStates& states;
};

/// Returns the policies and payload processors that close their targets, because the targets cannot be served with
/// them.
ClosingPolicies closingPolicies(const config::Model& model);
/// Returns the policies of all kinds with settings for rules, in the order of the table.
RulePolicyList rulePolicies(const RulePolicySources& sources);
/// Returns the writers of the statuses of policies, in the order of the table.
std::span<const StatusEntry> policyStatuses();

}  // namespace sluice::compile
