// Resolves references from one object to another. A reference that is not resolved has a fault for the holder's
// ResolvedRefs condition.
//
// A reference into another namespace that no grant permits is refused before anything is looked up, so that the fault
// does not disclose what exists there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/grants.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"

namespace sluice::compile {

struct KeyPair {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

/// The texts of a CA bundle, both in PEM.
struct Authorities {
  std::string certificates;
  std::string revocations;  // empty: none
};

/// Returns "kind namespace/name" for messages: "Secret default/a".
std::string describe(const config::ObjectRef& ref, std::string_view holder);
/// Returns true for the kind Service of the core group.
bool isService(const config::ObjectRef& ref);
/// Returns the kind of the object that a reference to a Backend or Service of that namespace means. Samples of the
/// prototype write kind Backend for an XBackendDestination, which is meant if there is no Backend of that name.
std::string_view meantKind(const config::Model& model, const config::ObjectRef& ref, std::string_view nameSpace);
/// Returns the fault of a reference to an object that is missing from the model, with a hint at what was meant instead.
/// If the object is there and not valid, that is reported with the object.
Fault absenceFault(std::string_view why, const config::Model& model, const config::ObjectRef& ref,
                   const Holder& holder);
/// Returns RefNotPermitted if the reference is not permitted, with what the grants lack.
std::optional<Fault> crossNamespaceFault(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

/// Parses tls.crt and tls.key of a Secret and checks that they belong together. Faults have `invalidReason`.
Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                 std::string_view invalidReason);
/// Reads ca.crt of a ConfigMap or Secret, and its crl.pem if it has one; both are parsed together as a check. Faults:
/// InvalidKind, RefNotPermitted, InvalidCACertificateRef.
Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

}  // namespace sluice::compile
