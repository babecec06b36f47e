// The BackendTLSPolicies of a configuration, and the TLS that Services and Backends get by them. A policy for a port
// counts before one for the whole object (see attached_policies.h).
//
// The gateway never speaks to the target of a policy without the TLS that the policy asks for. If that TLS cannot be
// had, there is a fault instead, and requests answer 500. It lives as long as one compilation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/model/model.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/compile_tls.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Returns the field of a Backend's own settings that contradicts any policy for it, with its value as the message;
/// nullopt if none does.
std::optional<config::Finding> contradictionIn(const std::optional<config::BackendTls>& own);

/// A policy, compiled once for all objects that it targets.
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

  /// Returns the TLS of a port of that Service or Backend, or the reason why it cannot be had; nullopt if no policy
  /// targets it.
  std::optional<Resolved<routing::UpstreamTls>> of(const config::ObjectMeta& object,
                                                   const config::PolicySection& port) const;
  /// Returns the policy whose TLS that is; nullptr if no policy targets it.
  const Candidate* find(const config::ObjectMeta& object, const config::PolicySection& port) const {
    return policies_.find(object, port);
  }
  /// Returns what became of a policy of the model.
  const CompiledTlsPolicy& compiled(const config::BackendTlsPolicy& policy) const { return compiled_.at(&policy); }
  /// Returns the policy that counts among those that target exactly this; nullptr if there is none.
  const Candidate* findExactly(const config::ObjectMeta& object, const config::PolicySection& port) const {
    return policies_.findExactly(object, port);
  }

 private:
  const AttachedPolicies<config::BackendTlsPolicy> policies_;
  std::unordered_map<const config::BackendTlsPolicy*, CompiledTlsPolicy> compiled_;  // those that are valid
};

}  // namespace sluice::compile
