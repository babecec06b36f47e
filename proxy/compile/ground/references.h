// Resolves references from one object to another. An unresolved reference has a fault for the holder's ResolvedRefs
// condition.
//
// If no grant permits a reference into another namespace, it is refused before the object is looked up, so that the
// fault does not disclose what exists there.
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
  std::string revocations;  // empty if there are none
};

/// Returns "kind namespace/name" for messages: "Secret default/a".
std::string describe(const config::ObjectRef& ref, std::string_view holder);
/// Returns true for the kind Service of the core group.
bool isService(const config::ObjectRef& ref);
/// Returns the kind of the object to which a reference to a Backend or Service of that namespace refers. Samples of the
/// prototype write kind Backend for an XBackendDestination. So if there is no Backend with that name, the kind is
/// XBackendDestination.
std::string_view meantKind(const config::Model& model, const config::ObjectRef& ref, std::string_view nameSpace);
/// Returns the fault of a reference to an object that the model does not have, with a hint about what was meant. If the
/// object exists and is invalid, the object itself reports that.
Fault absenceFault(std::string_view why, const config::Model& model, const config::ObjectRef& ref,
                   const Holder& holder);
/// Returns the fault of a reference to a Backend of type Dynamic that is no backendRef of a route, whose requests name
/// a destination.
Fault requestsNameIt(const config::ObjectRef& ref, const Holder& holder);
/// Returns RefNotPermitted, with what the grants lack, if the reference is not permitted.
std::optional<Fault> crossNamespaceFault(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

/// Parses tls.crt and tls.key of a Secret and checks that they match. The reason of faults is `invalidReason`.
Resolved<KeyPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                 std::string_view invalidReason);
/// Reads ca.crt of a ConfigMap or Secret, and its crl.pem if it has one; both are parsed together as a check. Faults:
/// InvalidKind, RefNotPermitted, InvalidCACertificateRef.
Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

}  // namespace sluice::compile
