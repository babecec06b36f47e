// ClientValidations compile how listeners verify the certificates of their clients: as the Gateway demands it
// (spec.tls.frontend), or a ClientTrafficPolicy for the listener or its Gateway. The object lives as long as one
// compilation; validations with the same contents are those of the last one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/model/client_traffic_policy.h"
#include "config/model/model.h"
#include "proxy/base/identity_terms.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/attached_policies.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/processing/shared_states.h"
#include "proxy/routing/policy/client_validation.h"

namespace sluice::compile {

/// Returns true for policies of which only one can take effect for a listener.
inline bool validates(const config::ClientTrafficPolicy& policy) { return policy.validation.has_value(); }

/// How the clients of one listener are verified, and why they cannot be verified as it is demanded.
struct ListenerClients {
  std::shared_ptr<const routing::ClientValidation> validation = nullptr;  // null: they are not asked for a certificate
  std::optional<Fault> unresolved = std::nullopt;                         // the faults of references of the Gateway
  std::optional<Fault> unaccepted = std::nullopt;       // none of them can be used, so the listener may not be served
  const config::ClientTrafficPolicy* policy = nullptr;  // the one that takes effect; null if none does
  std::optional<Fault> policyFault = std::nullopt;      // why it cannot be served; then requests are refused
  base::ObjectNames secrets = {};                       // of the policy
};

class ClientValidations {
 public:
  /// Both must outlive it.
  ClientValidations(const config::Model& model, processing::SharedStates& states);

  /// `identity` are the terms of the Gateway. Listeners without TLS are not concerned, unless a policy names them.
  ListenerClients of(const config::Gateway& gateway, const config::Listener& listener,
                     const base::IdentityTerms& identity);

 private:
  /// The authorities and revocation lists that references name, as far as they can be used.
  struct GatheredAuthorities {
    Authorities texts = {};
    std::size_t usable = 0;  // the references to authorities that can be used
    std::vector<Fault> faults = {};
  };

  const GatheredAuthorities& gather(const std::vector<config::ObjectRef>& authorities,
                                    const std::vector<config::ObjectRef>& lists, const Holder& holder);
  Resolved<std::shared_ptr<const routing::ClientValidation>> made(const Authorities& texts,
                                                                  routing::ClientValidation wanted,
                                                                  pki::ClientRules rules, const std::string& path);
  void addFrontend(const config::FrontendValidation& frontend, const Holder& holder, routing::ClientValidation wanted,
                   ListenerClients& result);
  std::optional<Fault> addPolicy(const config::ClientTrafficPolicy& policy, const config::Gateway& gateway,
                                 routing::ClientValidation wanted, ListenerClients& result);

  const config::Model& model_;
  processing::SharedStates& states_;
  const AttachedPolicies<config::ClientTrafficPolicy> policies_;
  std::map<const std::vector<config::ObjectRef>*, GatheredAuthorities> gathered_;  // by the references to authorities
};

}  // namespace sluice::compile
