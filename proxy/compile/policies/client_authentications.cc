#include "proxy/compile/policies/client_authentications.h"

#include <string>
#include <utility>

#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/ground/references.h"
#include "proxy/pki/digest.h"

namespace sluice::compile {
namespace {

using PasswordFile = std::shared_ptr<const pki::PasswordFile>;

constexpr std::string_view kReason = config::reason::kInvalid;

Fault passwordFault(const config::EgressAuthentication& authentication, const Holder& holder, std::string_view text) {
  return fault(kReason, authentication.secretRef.path,
               describe(authentication.secretRef, holder.nameSpace) + ": " + std::string(text));
}

Resolved<const base::Secret*> findPasswords(const config::EgressAuthentication& authentication, const Holder& holder,
                                            const config::Model& model) {
  const config::ObjectRef& ref = authentication.secretRef;
  if (auto refused = crossNamespaceFault(model, ref, holder)) {
    refused->reason = kReason;
    return *std::move(refused);
  }
  const auto* const secret = model.find<config::SecretObject>(targetNamespace(ref, holder.nameSpace), ref.name);
  if (secret == nullptr) return absenceFault(kReason, model, ref, holder);
  const base::Secret* const text = secret->find(authentication.key);
  if (text == nullptr) return passwordFault(authentication, holder, "it has no " + authentication.key);
  return text;
}

}  // namespace

Resolved<std::shared_ptr<const routing::ClientAuthentication>> authenticationOf(const config::EgressPolicy& policy,
                                                                                const config::Model& model,
                                                                                processing::SharedStates& states) {
  const config::EgressAuthentication& written = *policy.clientAuthentication;
  const Holder holder = holderOf(policy.meta);
  const auto text = findPasswords(written, holder, model);
  if (!text) return text.fault;
  const std::string_view bytes = (*text.value)->reveal();
  std::optional<base::Error> refused;
  const auto users =
      states.get<pki::PasswordFile>("passwords " + pki::toHex(pki::sha256(bytes)), [&]() -> PasswordFile {
        auto parsed = pki::PasswordFile::parse(bytes);
        if (parsed.ok()) return std::move(parsed).value();
        refused = std::move(parsed).error();
        return nullptr;
      });
  if (refused) return passwordFault(written, holder, written.key + ": " + refused->detail);
  return std::make_shared<const routing::ClientAuthentication>(
      routing::ClientAuthentication{policy.meta.qualifiedName(), written.realm, written.required, users});
}

std::optional<base::ObjectNames::value_type> passwordsOf(const config::EgressPolicy& policy,
                                                         const config::Model& model) {
  const config::ObjectRef& ref = policy.clientAuthentication->secretRef;
  const Holder holder = holderOf(policy.meta);
  if (!mayExist(ref) || !isPermitted(model, ref, holder)) return std::nullopt;
  return base::ObjectNames::value_type{targetNamespace(ref, holder.nameSpace), ref.name};
}

}  // namespace sluice::compile
