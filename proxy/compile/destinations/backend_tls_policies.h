// The BackendTLSPolicies of a configuration, and the TLS settings that they give to Services and Backends. A policy for
// a port takes precedence over one for the whole object (see attached_policies.h).
//
// The gateway never connects to the target of a policy without the TLS that the policy demands. If that TLS is not
// possible, there is a fault instead, and requests answer 500. The object lives as long as one compilation.
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
  std::optional<Fault> unresolved;  // the fault of its references to authorities
};

class BackendTlsPolicies {
 public:
  using Candidate = AttachedPolicies<config::BackendTlsPolicy>::PolicyCandidate;

  /// Both must outlive it.
  BackendTlsPolicies(const config::Model& model, const SystemTrust& systemTrust);

  /// Returns the TLS of a port of that Service or Backend, or the reason why it is not possible; nullopt if no policy
  /// targets it.
  std::optional<Resolved<routing::UpstreamTls>> of(const config::ObjectMeta& object,
                                                   const config::PolicySection& port) const;
  /// Returns the policy that this TLS comes from; nullptr if no policy targets it.
  const Candidate* find(const config::ObjectMeta& object, const config::PolicySection& port) const {
    return policies_.find(object, port);
  }
  /// Returns the result for a policy of the model.
  const CompiledTlsPolicy& compiled(const config::BackendTlsPolicy& policy) const { return compiled_.at(&policy); }
  /// Returns the policy that takes precedence among those that target exactly this; nullptr if there is none.
  const Candidate* findExactly(const config::ObjectMeta& object, const config::PolicySection& port) const {
    return policies_.findExactly(object, port);
  }

 private:
  const AttachedPolicies<config::BackendTlsPolicy> policies_;
  std::unordered_map<const config::BackendTlsPolicy*, CompiledTlsPolicy> compiled_;  // only valid policies
};

}  // namespace sluice::compile
