// References from one object to another: found, or the fault that the holder's ResolvedRefs condition tells.
//
// A reference into another namespace is refused before anything is looked up, so that its answer does not tell what is
// there.
#pragma once

#include <memory>
#include <string_view>

#include "config/model.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/routing/fault.h"

namespace sluice::routing {

struct KeyPair {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

/// The namespace that a reference means, held by an object in `holder`.
std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder);
/// "kind namespace/name" for messages, with the field in front: "spec.tls: Secret default/a".
std::string describe(const config::ObjectRef& ref, std::string_view holder);
/// RefNotPermitted if it leaves the namespace of its holder (ReferenceGrant is not read yet).
std::optional<Fault> crossNamespaceFault(const config::ObjectRef& ref, std::string_view holder);

/// tls.crt and tls.key of a Secret, parsed, and belonging together. Faults carry `invalidReason`.
Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, std::string_view holder,
                                 std::string_view invalidReason);
/// ca.crt of a ConfigMap or Secret, as text. Faults: RefNotPermitted, InvalidCACertificateRef.
Resolved<std::string> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         std::string_view holder);

}  // namespace sluice::routing
