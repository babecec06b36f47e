#include "proxy/compile/ground/references.h"

#include <algorithm>

#include "proxy/compile/ground/hints.h"
#include "proxy/pki/trust_store.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

constexpr std::string_view kSecretKind = config::SecretObject::kKind;
constexpr std::string_view kConfigMapKind = config::ConfigMap::kKind;

Fault brokenReference(std::string_view why, const config::ObjectRef& ref, const Holder& holder, std::string_view text) {
  return fault(why, ref.path, describe(ref, holder.nameSpace) + ": " + std::string(text));
}

}  // namespace

std::string describe(const config::ObjectRef& ref, std::string_view holder) {
  std::string text = ref.kind + " ";
  const config::ObjectKind* kind = config::findObjectKind(ref.group, ref.kind);
  if (kind == nullptr || kind->namespaced) text.append(targetNamespace(ref, holder)).append("/");
  return text + ref.name;
}

bool isService(const config::ObjectRef& ref) { return ref.group.empty() && ref.kind == config::Service::kKind; }

std::string_view meantKind(const config::Model& model, const config::ObjectRef& ref, std::string_view nameSpace) {
  if (ref.group != config::kPrototypeGroup || ref.kind != config::Backend::kKind) return ref.kind;
  const bool exists = model.find<config::Backend>(ref.group, ref.kind, nameSpace, ref.name) != nullptr ||
                      model.findRejected(ref.group, ref.kind, nameSpace, ref.name) != nullptr;
  return exists ? std::string_view(ref.kind) : config::Backend::kDestinationKind;
}

Fault absenceFault(std::string_view why, const config::Model& model, const config::ObjectRef& ref,
                   const Holder& holder) {
  const std::string object = describe(ref, holder.nameSpace) + ": ";
  const auto* rejected = model.findRejected(ref.group, ref.kind, targetNamespace(ref, holder.nameSpace), ref.name);
  const bool isOwn = targetNamespace(ref, holder.nameSpace) == holder.nameSpace;
  if (rejected != nullptr) {
    if (isOwn) return summary(why, ref.path, object + "it is not valid: " + rejected->message);
    // The message may quote values of an object that the author of the holder may not read.
    const config::ObjectKind* kind = config::findObjectKind(ref.group, ref.kind);
    const bool hasConditions = kind != nullptr && kind->status.has_value();
    return summary(why, ref.path, object + "it is not valid" + (hasConditions ? "; its own conditions say why" : ""));
  }
  return fault(why, ref.path,
               object + "it does not exist" + nearestObject(model, ref, holder, kindsLike(ref.group, ref.kind)));
}

Fault requestsNameIt(const config::ObjectRef& ref, const Holder& holder) {
  return fault(config::reason::kUnsupportedValue, ref.path,
               describe(ref, holder.nameSpace) +
                   ": requests name its destination, so only the backendRefs of routes may refer to it");
}

std::optional<Fault> crossNamespaceFault(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder) {
  if (isPermitted(model, ref, holder)) return std::nullopt;
  return brokenReference(reason::kRefNotPermitted, ref, holder,
                         "no ReferenceGrant in namespace " + ref.nameSpace + " permits references from " +
                             std::string(holder.kind) + " of namespace " + std::string(holder.nameSpace) +
                             missingGrant(model, ref, holder));
}

Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                 std::string_view invalidReason) {
  if (!ref.group.empty() || ref.kind != kSecretKind) {
    return brokenReference(invalidReason, ref, holder, "only Secrets can hold a certificate");
  }
  if (auto fault = crossNamespaceFault(model, ref, holder)) return *std::move(fault);
  const config::SecretObject* secret =
      model.find<config::SecretObject>(targetNamespace(ref, holder.nameSpace), ref.name);
  if (secret == nullptr) return absenceFault(invalidReason, model, ref, holder);
  const base::Secret* certificateText = secret->find("tls.crt");
  const base::Secret* keyText = secret->find("tls.key");
  if (certificateText == nullptr) return brokenReference(invalidReason, ref, holder, "it has no tls.crt");
  if (keyText == nullptr) return brokenReference(invalidReason, ref, holder, "it has no tls.key");
  auto certificate = pki::CertificateChain::parse(certificateText->reveal());
  if (!certificate) return brokenReference(invalidReason, ref, holder, "tls.crt: " + certificate.error().detail);
  auto key = pki::PrivateKey::parse(*keyText);
  if (!key) return brokenReference(invalidReason, ref, holder, "tls.key: " + key.error().detail);
  if (!key->matches(*certificate))
    return brokenReference(invalidReason, ref, holder, "tls.key does not belong to tls.crt");
  return KeyPair{std::make_shared<const pki::CertificateChain>(std::move(certificate).value()),
                 std::make_shared<const pki::PrivateKey>(std::move(key).value())};
}

Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder) {
  const auto fault = [&](std::string_view text) {
    return brokenReference(reason::kInvalidCaCertificateRef, ref, holder, text);
  };
  if (!ref.group.empty() || (ref.kind != kConfigMapKind && ref.kind != kSecretKind)) {
    return brokenReference(reason::kInvalidKind, ref, holder, "only ConfigMaps and Secrets can hold authorities");
  }
  if (auto refused = crossNamespaceFault(model, ref, holder)) return *std::move(refused);
  const std::string_view nameSpace = targetNamespace(ref, holder.nameSpace);
  const config::ConfigMap* map = model.find<config::ConfigMap>(nameSpace, ref.name);
  const config::SecretObject* secret = model.find<config::SecretObject>(nameSpace, ref.name);
  if (ref.kind == kConfigMapKind ? map == nullptr : secret == nullptr) {
    return absenceFault(reason::kInvalidCaCertificateRef, model, ref, holder);
  }
  const auto entry = [&](const std::string& key) -> std::optional<std::string> {
    if (ref.kind == kConfigMapKind) {
      const std::string* text = map->find(key);
      return text == nullptr ? std::nullopt : std::optional(*text);
    }
    const base::Secret* text = secret->find(key);
    return text == nullptr ? std::nullopt : std::optional(std::string(text->reveal()));
  };
  const auto certificates = entry("ca.crt");
  if (!certificates) return fault("it has no ca.crt");
  auto parsed = pki::TrustStore::parse(*certificates);
  if (!parsed) return fault("ca.crt: " + parsed.error().detail);
  const auto revocations = entry("crl.pem");
  if (!revocations) return Authorities{*certificates, {}};
  // A user who adds the key wants to revoke certificates. So an empty list is a fault and not the same as an absent
  // one.
  if (revocations->empty()) return fault("crl.pem: it is empty");
  parsed = pki::TrustStore::parse(*certificates, *revocations);
  if (!parsed) return fault("crl.pem: " + parsed.error().detail);
  return Authorities{*certificates, *revocations};
}

}  // namespace sluice::compile
