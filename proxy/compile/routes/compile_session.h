// Compiles sessionPersistence of rules, and the key that seals the values of all sessions.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/routes/rule_members.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/routing/policy/session_policy.h"

namespace sluice::compile {

/// Names a rule.
struct RuleName {
  std::string_view kind;
  const config::ObjectMeta& route;
  std::uint32_t index;
};

/// Returns null if the rule has no sessionPersistence. `members` are the members of the rule. Fault: UnsupportedValue
/// for a header field that sessions cannot use.
Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::HttpRouteRule& rule,
                                                                       const std::vector<RuleMember>& members,
                                                                       const RuleName& name);
Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::GrpcRouteRule& rule,
                                                                       const std::vector<RuleMember>& members,
                                                                       const RuleName& name);

/// Returns the sessions that a policy with `sessionPersistence` gives a rule without sessions of its own. They are the
/// same for all rules with the same backendRefs.
Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::TrafficPolicy& policy,
                                                                       const std::vector<RuleMember>& members,
                                                                       std::string_view nameSpace);

/// Returns the sealer for the key that settings.sessionKey names; null if it names none. Faults describe what is wrong
/// with the Secret and do not name it.
Resolved<std::shared_ptr<const pki::ValueSealer>> sessionSealer(const config::Model& model);

}  // namespace sluice::compile
