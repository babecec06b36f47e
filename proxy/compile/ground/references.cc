#include "proxy/compile/ground/references.h"

#include <algorithm>
#include <optional>

#include "proxy/base/timestamp.h"
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

/// Explains why the newest version of a Secret is not used. The message of its schema may quote values that only its
/// own namespace may read.
std::string whyNotValid(const config::Rejected& secret, const Holder& holder) {
  return secret.nameSpace == holder.nameSpace ? "it is not valid: " + secret.message : "it is not valid";
}

/// The entries of a ConfigMap or a Secret, one of which is null.
struct AuthorityTexts {
  const config::ConfigMap* map;
  const config::SecretObject* secret;

  std::optional<std::string> find(const std::string& key) const {
    if (map != nullptr) {
      const std::string* text = map->find(key);
      return text == nullptr ? std::nullopt : std::optional(*text);
    }
    const base::Secret* text = secret->find(key);
    return text == nullptr ? std::nullopt : std::optional(std::string(text->reveal()));
  }
};

/// Finds an object that may hold authorities or revocation lists. Faults: InvalidKind, RefNotPermitted,
/// InvalidCACertificateRef.
Resolved<AuthorityTexts> findAuthorityTexts(const config::Model& model, const config::ObjectRef& ref,
                                            const Holder& holder) {
  if (!ref.group.empty() || (ref.kind != kConfigMapKind && ref.kind != kSecretKind)) {
    return brokenReference(reason::kInvalidKind, ref, holder, "only ConfigMaps and Secrets can hold authorities");
  }
  if (auto refused = crossNamespaceFault(model, ref, holder)) return *std::move(refused);
  const std::string_view nameSpace = targetNamespace(ref, holder.nameSpace);
  AuthorityTexts texts = {};
  if (ref.kind == kConfigMapKind) {
    texts.map = model.find<config::ConfigMap>(nameSpace, ref.name);
  } else {
    texts.secret = model.find<config::SecretObject>(nameSpace, ref.name);
  }
  if (texts.map == nullptr && texts.secret == nullptr) {
    return absenceFault(reason::kInvalidCaCertificateRef, model, ref, holder);
  }
  return texts;
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

Resolved<ResolvedPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                      std::string_view invalidReason) {
  if (!ref.group.empty() || ref.kind != kSecretKind) {
    return brokenReference(invalidReason, ref, holder, "only Secrets can hold a certificate");
  }
  if (auto fault = crossNamespaceFault(model, ref, holder)) return *std::move(fault);
  const std::string nameSpace(targetNamespace(ref, holder.nameSpace));
  const config::SecretObject* secret = model.find<config::SecretObject>(nameSpace, ref.name);
  if (secret == nullptr) return absenceFault(invalidReason, model, ref, holder);
  base::Result<config::KeyPair> pair = secret->keyPair();
  const config::Rejected* refused = model.findKept({}, kSecretKind, nameSpace, ref.name);
  if (refused == nullptr && pair) return ResolvedPair{std::move(pair).value()};
  const std::string why = refused != nullptr ? whyNotValid(*refused, holder) : pair.error().detail;
  const config::KeyPair* last = model.findLastPair(nameSpace, ref.name);
  if (last == nullptr) return brokenReference(invalidReason, ref, holder, why);
  std::string text = why + "; the last good pair serves on until ";
  text += base::Timestamp().text(last->certificate->notAfter());
  return ResolvedPair{*last, brokenReference(invalidReason, ref, holder, text)};
}

Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder) {
  const auto fault = [&](std::string_view text) {
    return brokenReference(reason::kInvalidCaCertificateRef, ref, holder, text);
  };
  const auto found = findAuthorityTexts(model, ref, holder);
  if (!found) return found.fault;
  const auto certificates = found.value->find("ca.crt");
  if (!certificates) return fault("it has no ca.crt");
  auto parsed = pki::TrustStore::parse(*certificates);
  if (!parsed) return fault("ca.crt: " + parsed.error().detail);
  const auto revocations = found.value->find("crl.pem");
  if (!revocations) return Authorities{*certificates, {}};
  // A user who adds the key wants to revoke certificates. So an empty list is a fault and not the same as an absent
  // one.
  if (revocations->empty()) return fault("crl.pem: it is empty");
  parsed = pki::TrustStore::parse(*certificates, *revocations);
  if (!parsed) return fault("crl.pem: " + parsed.error().detail);
  return Authorities{*certificates, *revocations};
}

Resolved<std::string> resolveRevocations(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder) {
  const auto found = findAuthorityTexts(model, ref, holder);
  if (!found) return found.fault;
  auto lists = found.value->find("ca.crl");
  if (lists && !lists->empty()) return *std::move(lists);
  return brokenReference(reason::kInvalidCaCertificateRef, ref, holder,
                         lists ? "ca.crl: it is empty" : "it has no ca.crl");
}

}  // namespace sluice::compile
