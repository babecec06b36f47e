// Functions for the readers of all spellings of Backend. Each spelling has its own read_backend_*.cc.
#pragma once

#include <string>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// The differences between the spellings with `spec.destination`.
struct DestinationForm {
  /// Accepts the proposal's first form besides its later one: `fqdn.port` in place of `ports`, one `spec.tls` for all
  /// ports, and a caBundleRef that is a map.
  bool first = false;
  /// Requires the fields that the CRD requires: `protocol` of ports, `mode` of TLS, and group and kind of references.
  bool strict = false;
  /// Accepts the additions of this project: `tls.options`, and the fields of BackendTraffic.
  bool own = false;
};

/// Reads `tls` of a port or of the whole Backend.
void readDestinationTls(FieldReader& tls, const DestinationForm& form, BackendTls& result);
/// Reads a BackendTLSPolicyValidation of Gateway API.
void readTlsValidation(FieldReader validation, BackendTls& tls);
/// Reads `caCertificateRefs` and `wellKnownCACertificates`. At most one of them may be present, and if `isRequired`,
/// one must be.
void readAuthorities(FieldReader& reader, bool isRequired, BackendTls& tls);
/// Reads `options` of `holder`. Implementations may define options, so keys of other domains are not refused.
void readTlsOptions(FieldReader& holder, BackendTls& tls);

/// Reads a Backend's hostname, in lower case and without a final dot; see config/read/external_hostname.h.
std::string readExternalHostname(FieldReader& reader, std::string_view key);
/// Reads the name of a destination that requests name, or "*." and a suffix of such names, in lower case and without a
/// final dot. Stores an error and returns an empty text if it is none.
std::string readRequestedHostname(FieldReader& reader, const Item& item);
/// Stores an error for each field of TLS that is about one server, because requests name the server.
void refuseFixedNames(const Backend& backend, ObjectContext& context);
/// Reads `address` of a destination, in its canonical form. Returns an empty text if there is no valid one.
std::string readDestinationAddress(FieldReader& ip);
/// Reads `fqdn` or `ip` of an endpoint, one of which is required, with its port.
void readEndpointHost(FieldReader& endpoint, BackendPort& port);
/// Adds the endpoint that `item` defines. If the Backend has it already, that is an error.
void addEndpoint(BackendPort endpoint, const Item& item, ObjectContext& context, Backend& backend);
/// Reads `mode` in any of its spellings.
void readTlsMode(FieldReader& reader, TlsMode& mode);
/// Reads clientCertificateRef, which is required with Mutual and not accepted with any other mode.
void readClientCertificateRef(FieldReader& reader, BackendTls& tls);

}  // namespace sluice::config
