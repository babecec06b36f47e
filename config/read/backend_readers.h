// What the spellings of Backend share. Each spelling has its own read_backend_*.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields/field_reader.h"
#include "config/model/model.h"

namespace sluice::config {

/// In what the spellings that have `spec.destination` differ.
struct DestinationForm {
  /// The proposal's first form besides its later one: `fqdn.port` in the place of `ports`, one `spec.tls` for all
  /// ports, and a caBundleRef that is a map.
  bool first = false;
  /// What the CRD requires is required: `protocol` of ports, `mode` of TLS, group and kind of references.
  bool strict = false;
  /// `tls.options` is known.
  bool tlsOptions = false;
};

/// A Backend with its `spec` that has `destination` and `extensions`.
Backend readDestinationBackend(FieldReader& root, ObjectMeta meta, const DestinationForm& form);
/// `tls` of a port, or of the whole Backend.
BackendTls readDestinationTls(FieldReader tls, const DestinationForm& form, std::vector<Unbuilt>& unbuilt);

/// A Backend's hostname, in lower case and without a final dot; see config/read/external_hostname.h.
std::string readExternalHostname(FieldReader& reader, std::string_view key);
/// `mode`, in any of the spellings of C-01.
TlsMode readTlsMode(FieldReader& reader, TlsMode absent);
/// clientCertificateRef, which Mutual needs and no other mode takes.
std::optional<ObjectRef> readClientCertificateRef(FieldReader& reader, TlsMode mode);

}  // namespace sluice::config
