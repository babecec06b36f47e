// Reads BackendTLSPolicyValidation of Gateway API, which BackendTLSPolicy and XBackend have.
#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxValidationCaRefs = 8;
constexpr std::size_t kMaxValidationAltNames = 5;

enum class AltNameType : std::uint8_t { kHostname, kUri };
constexpr Choice<AltNameType> kAltNameTypes[] = {{"Hostname", AltNameType::kHostname}, {"URI", AltNameType::kUri}};

void readValidationAltNames(FieldReader& validation, BackendTls& tls) {
  for (const Item& item : validation.list("subjectAltNames", kMaxValidationAltNames)) {
    FieldReader reader = validation.map(item);
    reader.require("type");
    const AltNameType type = reader.choice("type", kAltNameTypes, AltNameType::kHostname);
    const bool named = reader.has("hostname");
    const bool identified = reader.has("uri");
    if (named != (type == AltNameType::kHostname) || identified != (type == AltNameType::kUri)) {
      reader.error("type", "must be Hostname with a hostname, or URI with a uri");
    }
    std::string hostname = reader.text("hostname", rule::kHostname);
    std::string uri = reader.text("uri", rule::kUri);
    if (!hostname.empty()) tls.subjectAltNames.push_back(std::move(hostname));
    if (!uri.empty()) tls.subjectAltNames.push_back(std::move(uri));
    reader.finish();
  }
}

}  // namespace

void readTlsValidation(FieldReader validation, BackendTls& tls, std::vector<UnsupportedField>& unsupported) {
  tls.serverName = validation.requiredText("hostname", rule::kPreciseHostname);
  tls.caRefs = readObjectRefs(validation, "caCertificateRefs", kMaxValidationCaRefs, {"", "", true}, false);
  const std::string wellKnown = validation.text("wellKnownCACertificates", rule::kAnyText);
  if (tls.caRefs.empty() == wellKnown.empty()) {
    validation.error("caCertificateRefs", "or wellKnownCACertificates is required, and not both");
  }
  if (!wellKnown.empty() && wellKnown != "System") {
    validation.unsupported("wellKnownCACertificates", "well-known authorities other than System are not supported",
                           true, unsupported);
  }
  readValidationAltNames(validation, tls);
  validation.finish();
}

}  // namespace sluice::config
