// References from one object to another: found, or the fault that the holder's ResolvedRefs condition tells.
//
// A reference into another namespace that nothing grants is refused before anything is looked up, so that its answer
// does not tell what is there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"

namespace sluice::control {

struct KeyPair {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

/// What holds a reference, as the `from` of a ReferenceGrant names it.
struct Holder {
  std::string_view group;
  std::string_view kind;
  std::string_view nameSpace;
};

inline Holder holderOf(const config::ObjectMeta& meta) { return {meta.group, meta.kind, meta.nameSpace}; }

/// The texts of a CA bundle, both in PEM.
struct Authorities {
  std::string certificates;
  std::string revocations;  // empty: none
};

/// The namespace that a reference means, held by an object in `holder`.
std::string_view targetNamespace(const config::ObjectRef& ref, std::string_view holder);
/// "kind namespace/name" for messages, with the field in front: "spec.tls: Secret default/a".
std::string describe(const config::ObjectRef& ref, std::string_view holder);
/// RefNotPermitted if it leaves the namespace of its holder and no ReferenceGrant of the other namespace lets it.
std::optional<Fault> crossNamespaceFault(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

/// tls.crt and tls.key of a Secret, parsed, and belonging together. Faults carry `invalidReason`.
Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                 std::string_view invalidReason);
/// ca.crt of a ConfigMap or Secret, and its crl.pem if it has one, parsed together to be sure of both. Faults:
/// RefNotPermitted, InvalidCACertificateRef.
Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

}  // namespace sluice::control
