#include "proxy/compile/destinations/backend_tls_policies.h"

#include <string>
#include <utility>

#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

/// Stores the faults of the references to authorities.
void checkAuthorities(const config::Model& model, const config::BackendTlsPolicy& policy, CompiledTlsPolicy& result) {
  std::vector<Fault> broken;
  for (const config::ObjectRef& ref : policy.tls.caRefs) {
    auto authorities = resolveAuthorities(model, ref, holderOf(policy.meta));
    if (!authorities) broken.push_back(std::move(authorities.fault));
  }
  result.unresolved = joined(broken);
  if (broken.empty() || broken.size() < policy.tls.caRefs.size()) return;
  result.unaccepted =
      summary(reason::kNoValidCaCertificate, "spec.validation.caCertificateRefs", "there is no valid reference");
}

CompiledTlsPolicy compileTlsPolicy(const config::Model& model, const config::BackendTlsPolicy& policy,
                                   TlsCompiler& compiler) {
  CompiledTlsPolicy result;
  checkAuthorities(model, policy, result);
  std::optional<Fault> invalid = alteringFault(policy.unsupported);
  // Gateway API requires this reason for BackendTLSPolicies. Other objects have UnsupportedValue.
  if (invalid) invalid->reason = reason::kInvalid;
  routing::UpstreamTls ignored;
  if (!invalid) invalid = compileTlsOptions(policy.tls, ignored);
  if (invalid) result.unaccepted = std::move(invalid);
  if (result.unaccepted || result.unresolved) return result;
  auto compiled = compiler.compile(holderOf(policy.meta), policy.tls.serverName, policy.tls);
  if (compiled) {
    result.tls = std::move(compiled.value->tls);
  } else {
    result.unresolved = std::move(compiled.fault);
  }
  return result;
}

}  // namespace

std::optional<config::Finding> contradictionIn(const std::optional<config::BackendTls>& own) {
  if (!own) return std::nullopt;
  if (own->mode == config::TlsMode::kNone) return config::Finding{own->path + ".mode", "None"};
  if (own->insecureSkipVerify) return config::Finding{own->path + ".insecureSkipVerify", "true"};
  return std::nullopt;
}

BackendTlsPolicies::BackendTlsPolicies(const config::Model& model, const SystemTrust& systemTrust) : policies_(model) {
  TlsCompiler compiler(model, systemTrust);
  for (const config::BackendTlsPolicy& each : model.all<config::BackendTlsPolicy>()) {
    compiled_.emplace(&each, compileTlsPolicy(model, each, compiler));
  }
}

std::optional<Resolved<routing::UpstreamTls>> BackendTlsPolicies::of(const config::ObjectMeta& object,
                                                                     const config::PolicySection& port) const {
  const Candidate* candidate = find(object, port);
  if (candidate == nullptr) return std::nullopt;
  const std::string title =
      std::string(config::BackendTlsPolicy::kKind) + " " + candidate->policy->meta.qualifiedName() + ": ";
  if (candidate->rejected != nullptr) return summary(reason::kInvalid, title + candidate->rejected->message);
  const CompiledTlsPolicy& compiled = compiled_.at(candidate->policy);
  if (compiled.tls) return *compiled.tls;
  const Fault& why = compiled.unresolved ? *compiled.unresolved : *compiled.unaccepted;
  return summary(why.reason, title + why.text());
}

}  // namespace sluice::compile
