// Resolves references from one object to another. An unresolved reference has a fault for the holder's ResolvedRefs
// condition.
//
// If no grant permits a reference into another namespace, it is refused before the object is looked up, so that the
// fault does not disclose what exists there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/model/key_pair.h"
#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/grants.h"

namespace sluice::compile {

struct ResolvedPair {
  config::KeyPair pair;
  /// The fault of the Secret's newest version, if the pair is that of an earlier one (config/load/last_pairs.h). It
  /// says until when that serves on.
  std::optional<Fault> outdated = {};
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

/// Parses tls.crt and tls.key of a Secret and checks that they match. If they do not, returns the last good pair, if
/// there is one. The reason of faults is `invalidReason`.
Resolved<ResolvedPair> resolveKeyPair(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                                      std::string_view invalidReason);
/// Reads ca.crt of a ConfigMap or Secret, and its crl.pem if it has one; both are parsed together as a check. Faults:
/// InvalidKind, RefNotPermitted, InvalidCACertificateRef.
Resolved<Authorities> resolveAuthorities(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);
/// Reads ca.crl of a ConfigMap or Secret. The lists are only parsed where they are used with their authorities. Faults:
/// InvalidKind, RefNotPermitted, InvalidCACertificateRef.
Resolved<std::string> resolveRevocations(const config::Model& model, const config::ObjectRef& ref,
                                         const Holder& holder);

}  // namespace sluice::compile
