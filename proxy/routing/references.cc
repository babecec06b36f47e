#include "proxy/routing/references.h"

namespace sluice::routing {
namespace {

namespace reason = config::reason;

constexpr std::string_view kSecretKind = "Secret";
constexpr std::string_view kConfigMapKind = "ConfigMap";

Fault invalid(std::string_view why, const config::ObjectRef& ref, std::string_view holder, std::string_view text) {
  return {std::string(why), describe(ref, holder) + ": " + std::string(text)};
}

/// Why an object that is not in the model is not there.
std::string absence(const config::Model& model, const config::ObjectRef& ref, std::string_view holder) {
  const auto* rejected = model.findRejected(ref.group, ref.kind, targetNamespace(ref, holder), ref.name);
  return rejected == nullptr ? "it does not exist" : "it is not valid: " + rejected->message;
}

}  // namespace

std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder) {
  return ref.nameSpace.empty() ? holder : std::string_view(ref.nameSpace);
}

std::string describe(const config::ObjectRef& ref, std::string_view holder) {
  std::string text = ref.path;
  if (!text.empty()) text += ": ";
  return text + ref.kind + " " + std::string(targetNamespace(ref, holder)) + "/" + ref.name;
}

std::optional<Fault> crossNamespaceFault(const config::ObjectRef& ref, std::string_view holder) {
  if (targetNamespace(ref, holder) == holder) return std::nullopt;
  return invalid(reason::kRefNotPermitted, ref, holder, "references into other namespaces are not permitted");
}

Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, std::string_view holder,
                                 std::string_view invalidReason) {
  if (!ref.group.empty() || ref.kind != kSecretKind) {
    return invalid(invalidReason, ref, holder, "only Secrets can hold a certificate");
  }
  if (auto fault = crossNamespaceFault(ref, holder)) return *std::move(fault);
  const config::SecretObject* secret = model.findSecret(holder, ref.name);
  if (secret == nullptr) return invalid(invalidReason, ref, holder, absence(model, ref, holder));
  const base::Secret* certificateText = secret->find("tls.crt");
  const base::Secret* keyText = secret->find("tls.key");
  if (certificateText == nullptr) return invalid(invalidReason, ref, holder, "it has no tls.crt");
  if (keyText == nullptr) return invalid(invalidReason, ref, holder, "it has no tls.key");
  auto certificate = pki::CertificateChain::parse(certificateText->reveal());
  if (!certificate) return invalid(invalidReason, ref, holder, "tls.crt: " + certificate.error().detail);
  auto key = pki::PrivateKey::parse(*keyText);
  if (!key) return invalid(invalidReason, ref, holder, "tls.key: " + key.error().detail);
  if (!key->matches(*certificate)) return invalid(invalidReason, ref, holder, "tls.key does not belong to tls.crt");
  return KeyPair{std::make_shared<const pki::CertificateChain>(std::move(certificate).value()),
                 std::make_shared<const pki::PrivateKey>(std::move(key).value())};
}

Resolved<std::string> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         std::string_view holder) {
  if (!ref.group.empty() || (ref.kind != kConfigMapKind && ref.kind != kSecretKind)) {
    return invalid(reason::kInvalidCaCertificateRef, ref, holder, "only ConfigMaps and Secrets can hold authorities");
  }
  if (auto fault = crossNamespaceFault(ref, holder)) return *std::move(fault);
  if (ref.kind == kConfigMapKind) {
    const config::ConfigMap* map = model.findConfigMap(holder, ref.name);
    if (map == nullptr) return invalid(reason::kInvalidCaCertificateRef, ref, holder, absence(model, ref, holder));
    if (const std::string* text = map->find("ca.crt")) return *text;
  } else {
    const config::SecretObject* secret = model.findSecret(holder, ref.name);
    if (secret == nullptr) return invalid(reason::kInvalidCaCertificateRef, ref, holder, absence(model, ref, holder));
    if (const base::Secret* text = secret->find("ca.crt")) return std::string(text->reveal());
  }
  return invalid(reason::kInvalidCaCertificateRef, ref, holder, "it has no ca.crt");
}

}  // namespace sluice::routing
