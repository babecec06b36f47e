#include "proxy/compile/policies/client_validations.h"

#include <string_view>
#include <utility>

#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/pki/digest.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
using SharedValidation = std::shared_ptr<const routing::ClientValidation>;

/// Digests everything that a ClientValidation is made of. Each part has its length, so no two lists have one digest.
class ValidationFingerprint {
 public:
  ValidationFingerprint& add(std::string_view part) {
    digest_.add(std::to_string(part.size()) + ":").add(part);
    return *this;
  }
  ValidationFingerprint& add(bool flag) { return add(std::string_view(flag ? "1" : "0")); }
  template <typename Part, typename TextOf>
  ValidationFingerprint& addAll(const std::vector<Part>& parts, TextOf&& textOf) {
    add(std::to_string(parts.size()));
    for (const Part& each : parts) add(std::string_view(textOf(each)));
    return *this;
  }
  std::string finish() { return pki::toHex(digest_.finish()); }

 private:
  pki::Sha256 digest_;
};

std::string validationFingerprint(const Authorities& texts, const routing::ClientValidation& wanted,
                                  const pki::ClientRules& rules) {
  ValidationFingerprint fingerprint;
  fingerprint.add(texts.certificates).add(texts.revocations);
  fingerprint.add(wanted.required).add(wanted.insecureFallback).add(wanted.namesCallers);
  fingerprint.addAll(wanted.trustDomains, [](const std::string& each) -> const std::string& { return each; });
  fingerprint.addAll(rules.keys, pki::asBytes);
  fingerprint.addAll(rules.certificates, pki::asBytes);
  fingerprint.addAll(rules.names, [](const pki::AdmittedName& each) {
    return std::to_string(static_cast<int>(each.kind)) + " " + std::to_string(static_cast<int>(each.match)) + " " +
           each.text;
  });
  return fingerprint.finish();
}

/// Returns the fault of a Gateway's reference to authorities, whose kind has a reason of its own there.
Fault asGatewayFault(Fault fault) {
  if (fault.reason == reason::kInvalidKind) fault.reason = reason::kInvalidCaCertificateKind;
  return fault;
}

std::vector<config::ObjectRef> referencesOf(const config::ClientCertificateTerms& terms) {
  std::vector<config::ObjectRef> refs = terms.caCertificateRefs;
  refs.insert(refs.end(), terms.revocationListRefs.begin(), terms.revocationListRefs.end());
  return refs;
}

}  // namespace

ClientValidations::ClientValidations(const config::Model& model, processing::SharedStates& states)
    : model_(model), states_(states), policies_(model) {}

ListenerClients ClientValidations::of(const config::Gateway& gateway, const config::Listener& listener,
                                      const base::IdentityTerms& identity) {
  ListenerClients result;
  const auto* const named = policies_.findExactly(gateway.meta, {listener.name}, validates);
  const bool hasTls = config::terminatesTls(listener.protocol);
  const auto* const policy = named != nullptr || !hasTls ? named : policies_.findExactly(gateway.meta, {}, validates);
  routing::ClientValidation wanted;
  wanted.namesCallers = identity.clientCertificate.has_value();
  if (wanted.namesCallers) wanted.trustDomains = identity.clientCertificate->trustDomains;
  const config::FrontendValidation* frontend =
      hasTls && gateway.frontend ? gateway.frontend->ofPort(listener.port) : nullptr;
  if (frontend != nullptr) addFrontend(*frontend, holderOf(gateway.meta), wanted, result);
  // A policy that its schema refuses closes the listener anyway.
  if (policy == nullptr || policy->rejected != nullptr) return result;
  result.policy = policy->policy;
  const std::string& path = policy->policy->validation->path;
  if (frontend != nullptr) {
    result.policyFault = fault(reason::kConflicted, path,
                               frontend->path + " of the Gateway says how clients of the listener " + listener.name +
                                   " are verified; one of the two must go");
  } else if (!hasTls) {
    result.policyFault = fault(reason::kUnsupportedRule, path,
                               "the listener " + listener.name + " has no TLS, so it cannot ask for certificates");
  } else {
    result.policyFault = addPolicy(*policy->policy, gateway, std::move(wanted), result);
  }
  return result;
}

const ClientValidations::GatheredAuthorities& ClientValidations::gather(
    const std::vector<config::ObjectRef>& authorities, const std::vector<config::ObjectRef>& lists,
    const Holder& holder) {
  const auto [known, isNew] = gathered_.try_emplace(&authorities);
  GatheredAuthorities& all = known->second;
  if (!isNew) return all;
  for (const config::ObjectRef& ref : authorities) {
    auto bundle = resolveAuthorities(model_, ref, holder);
    if (!bundle) {
      all.faults.push_back(std::move(bundle.fault));
      continue;
    }
    ++all.usable;
    all.texts.certificates += bundle.value->certificates + "\n";
    if (!bundle.value->revocations.empty()) all.texts.revocations += bundle.value->revocations + "\n";
  }
  for (const config::ObjectRef& ref : lists) {
    auto text = resolveRevocations(model_, ref, holder);
    if (text) {
      all.texts.revocations += *text.value + "\n";
    } else {
      all.faults.push_back(std::move(text.fault));
    }
  }
  return all;
}

/// Returns the validation with these authorities. As long as everything in it is the same, so is the object.
Resolved<SharedValidation> ClientValidations::made(const Authorities& texts, routing::ClientValidation wanted,
                                                   pki::ClientRules rules, const std::string& path) {
  std::optional<base::Error> refused;
  const std::string owner = "client validation " + validationFingerprint(texts, wanted, rules);
  auto validation = states_.get<routing::ClientValidation>(owner, [&]() -> SharedValidation {
    auto store = pki::TrustStore::parse(texts.certificates, texts.revocations);
    if (!store) {
      refused = std::move(store).error();
      return nullptr;
    }
    rules.trust = std::make_shared<const pki::TrustStore>(std::move(store).value());
    wanted.rules = std::make_shared<const pki::ClientRules>(std::move(rules));
    return std::make_shared<const routing::ClientValidation>(std::move(wanted));
  });
  if (refused) return fault(reason::kInvalidCaCertificateRef, path, refused->detail);
  return validation;
}

void ClientValidations::addFrontend(const config::FrontendValidation& frontend, const Holder& holder,
                                    routing::ClientValidation wanted, ListenerClients& result) {
  const GatheredAuthorities& all = gather(frontend.caCertificateRefs, {}, holder);
  std::vector<Fault> faults;
  for (const Fault& each : all.faults) faults.push_back(asGatewayFault(each));
  if (all.usable > 0) {
    wanted.insecureFallback = frontend.insecureFallback;
    auto validation = made(all.texts, std::move(wanted), {}, frontend.path);
    if (validation) {
      result.validation = *std::move(validation.value);
    } else {
      faults.push_back(std::move(validation.fault));
    }
  }
  result.unresolved = joined(faults);
  if (result.validation != nullptr) return;
  result.unaccepted = summary(reason::kNoValidCaCertificate, frontend.path,
                              "none of the references to authorities can be used, so no client can be verified");
}

/// Returns why the policy cannot be served. It is served with all of its references, or not at all: without one of its
/// lists, revoked certificates would be admitted.
std::optional<Fault> ClientValidations::addPolicy(const config::ClientTrafficPolicy& policy,
                                                  const config::Gateway& gateway, routing::ClientValidation wanted,
                                                  ListenerClients& result) {
  const config::ClientCertificateTerms& terms = *policy.validation;
  result.secrets = secretsNamedBy(referencesOf(terms), model_, holderOf(policy.meta));
  const SecretTrust trust(model_, gateway);
  for (const auto& secret : result.secrets) {
    auto refused = trust.faultOf({secret}, {policy.meta.nameSpace, secret.first});
    if (refused) return refused;
  }
  const GatheredAuthorities& all = gather(terms.caCertificateRefs, terms.revocationListRefs, holderOf(policy.meta));
  std::optional<Fault> why = joined(all.faults);
  if (!why && all.usable == 0) why = fault(reason::kInvalid, terms.path, "it names no authorities");
  if (!why) {
    wanted.required = !terms.optional;
    pki::ClientRules rules{nullptr, terms.keys, terms.certificates, terms.names};
    auto validation = made(all.texts, std::move(wanted), std::move(rules), terms.path);
    if (validation) {
      result.validation = *std::move(validation.value);
      return std::nullopt;
    }
    why = std::move(validation.fault);
  }
  why->reason = reason::kInvalid;
  return why;
}

}  // namespace sluice::compile
