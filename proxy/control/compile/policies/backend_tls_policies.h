// The BackendTLSPolicies of a configuration, and the TLS that Services get by them. A policy for a port counts before
// one for the whole Service (see attached_policies.h).
//
// A Service is never spoken to without the TLS that a policy asks for: if that cannot be had, there is a fault instead,
// and requests answer 500. It lives as long as one compilation.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/gateways/compile_tls.h"
#include "proxy/control/compile/policies/attached_policies.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns true for a target of the kind Service of the core group.
bool isServiceTarget(const config::PolicyTarget& target);

/// A policy, compiled once for all Services that it targets.
struct CompiledTlsPolicy {
  std::optional<routing::UpstreamTls> tls;  // none if there is a fault
  /// Invalid, or NoValidCACertificate if every reference to authorities is broken.
  std::optional<Fault> unaccepted;
  std::optional<Fault> unresolved;  // of the references to authorities
};

class BackendTlsPolicies {
 public:
  using Candidate = AttachedPolicies<config::BackendTlsPolicy>::PolicyCandidate;

  /// Both must outlive it.
  BackendTlsPolicies(const config::Model& model, const SystemTrust& systemTrust);

  /// Returns the TLS of a Service's port, or the reason why it cannot be had; nullopt if no policy targets it.
  std::optional<Resolved<routing::UpstreamTls>> of(const config::ObjectMeta& service,
                                                   const config::PolicySection& port) const;
  /// Returns what became of a policy of the model.
  const CompiledTlsPolicy& compiled(const config::BackendTlsPolicy& policy) const { return compiled_.at(&policy); }
  /// Returns the policy that counts among those that target exactly this; nullptr if there is none.
  const Candidate* findExactly(const config::ObjectMeta& service, const config::PolicySection& port) const {
    return policies_.findExactly(service, port);
  }

 private:
  const AttachedPolicies<config::BackendTlsPolicy> policies_;
  std::unordered_map<const config::BackendTlsPolicy*, CompiledTlsPolicy> compiled_;  // those that are valid
};

}  // namespace sluice::control
