// CompiledEgressPolicies compiles each EgressPolicy once, for all rules and listeners that it covers, and reports why a
// policy cannot be served. The object lives as long as one compilation; policies that did not change are those of the
// last one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/egress_policy.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::compile {

/// The policies that cover something, and the fault of one of them that cannot be served, which closes it.
struct EgressSettings {
  routing::EgressPolicies policies;
  std::optional<Fault> fault = std::nullopt;
  /// How clients are authenticated, by the one policy whose clientAuthentication applies; null if they are not.
  std::shared_ptr<const routing::ClientAuthentication> authentication = nullptr;
  base::ObjectNames secrets = {};  // of all of them

  bool empty() const { return policies.empty() && !fault; }
  friend bool operator==(const EgressSettings&, const EgressSettings&) = default;
};

/// Returns why the policy cannot be served although its schema accepts it; nullopt if it can.
std::optional<Fault> faultOfEgressPolicy(const config::EgressPolicy& policy, const config::Model& model);
/// Returns true for policies of which only one can take effect for a client.
inline bool authenticates(const config::EgressPolicy& policy) { return policy.clientAuthentication.has_value(); }

class CompiledEgressPolicies {
 public:
  /// Both must outlive it.
  CompiledEgressPolicies(const config::Model& model, processing::SharedStates& states);

  bool empty() const { return policies_.empty() && model_.settings.egressPolicies.empty(); }
  /// Returns the policies that target the route or its rule of that name.
  EgressSettings targeting(const config::ObjectMeta& route, std::string_view rule) const;
  /// Returns the policies that the settings name, which cover every Gateway, followed by those for the listener and its
  /// Gateway.
  EgressSettings ofListener(const config::Gateway& gateway, const std::string& listener) const;

 private:
  using Candidates = AttachedPolicies<config::EgressPolicy>;

  void add(const Candidates::PolicyCandidate& candidate, EgressSettings& settings) const;
  std::optional<Fault> unseenAt(const config::EgressPolicy& policy, const config::ObjectMeta& route,
                                std::string_view rule) const;
  void addPasswords(const config::EgressPolicy& policy, const SecretTrust& trust, EgressSettings& settings) const;
  void addAt(const config::Gateway& gateway, const Candidates::PolicyCandidate& candidate,
             EgressSettings& settings) const;
  void addOfClass(std::size_t index, const config::Gateway& gateway, EgressSettings& settings) const;
  const config::EgressPolicy* authenticating(const config::Gateway& gateway, const std::string& listener) const;

  const config::Model& model_;
  processing::SharedStates& states_;
  const Candidates policies_;
};

}  // namespace sluice::compile
