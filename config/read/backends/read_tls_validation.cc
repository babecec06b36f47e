// Reads the BackendTLSPolicyValidation of Gateway API, which BackendTLSPolicy and XBackend have. The Backend of Envoy
// Gateway has only its authorities.
#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxAuthorities = 8;
constexpr std::size_t kMaxValidationAltNames = 5;

constexpr std::string_view kAltNameTypes[] = {"Hostname", "URI"};

void readValidationAltName(FieldReader reader, BackendTls& tls) {
  const bool isUri = reader.word(required("type"), kAltNameTypes, "Hostname") == "URI";
  if (reader.has("hostname") == isUri || reader.has("uri") != isUri) {
    reader.error("type", "must be Hostname with a hostname, or URI with a uri");
  }
  for (std::string name : {reader.text("hostname", rule::kHostname), reader.text("uri", rule::kUri)}) {
    if (!name.empty()) tls.subjectAltNames.push_back(std::move(name));
  }
  reader.finish();
}

}  // namespace

void readAuthorities(FieldReader& reader, bool isRequired, BackendTls& tls) {
  reader.read("caCertificateRefs", tls.caRefs, kMaxAuthorities, kAnyRef);
  const std::string wellKnown = reader.text("wellKnownCACertificates", rule::kAnyText);
  if (isRequired && tls.caRefs.empty() == wellKnown.empty()) {
    reader.error("caCertificateRefs", "or wellKnownCACertificates is required, and not both");
  }
  if (!isRequired && !tls.caRefs.empty() && !wellKnown.empty()) {
    reader.error("wellKnownCACertificates", "must not be given together with caCertificateRefs");
  }
  if (wellKnown.empty() || wellKnown == "System") return;
  reader.unsupported("wellKnownCACertificates", "well-known authorities other than System are not supported");
}

void readTlsValidation(FieldReader validation, BackendTls& tls) {
  validation.read(required("hostname"), tls.serverName, rule::kPreciseHostname);
  readAuthorities(validation, /*isRequired=*/true, tls);
  for (const Item& item : validation.list("subjectAltNames", kMaxValidationAltNames)) {
    readValidationAltName(validation.map(item), tls);
  }
  validation.finish();
}

}  // namespace sluice::config
