#include "config/read/backend_readers.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxValidationCaRefs = 8;
constexpr std::size_t kMaxValidationAltNames = 5;

enum class XBackendType : std::uint8_t { kExternalHostname };
constexpr Choice<XBackendType> kXBackendTypes[] = {{"ExternalHostname", XBackendType::kExternalHostname}};

enum class XBackendProtocol : std::uint8_t { kNotGiven, kTcp, kHttp, kHttp2, kHttp11, kH2c, kMcp };
constexpr Choice<XBackendProtocol> kXBackendProtocols[] = {
    {"TCP", XBackendProtocol::kTcp},       {"HTTP", XBackendProtocol::kHttp}, {"HTTP2", XBackendProtocol::kHttp2},
    {"HTTP11", XBackendProtocol::kHttp11}, {"H2C", XBackendProtocol::kH2c},   {"MCP", XBackendProtocol::kMcp}};

enum class AltNameType : std::uint8_t { kHostname, kUri };
constexpr Choice<AltNameType> kAltNameTypes[] = {{"Hostname", AltNameType::kHostname}, {"URI", AltNameType::kUri}};

void readValidationAltNames(FieldReader& validation, BackendTls& tls, std::vector<UnsupportedField>& unsupported) {
  for (const Item& item : validation.list("subjectAltNames", kMaxValidationAltNames)) {
    FieldReader reader = validation.map(item);
    reader.require("type");
    const AltNameType type = reader.choice("type", kAltNameTypes, AltNameType::kHostname);
    const bool named = reader.has("hostname");
    const bool identified = reader.has("uri");
    if (named != (type == AltNameType::kHostname) || identified != (type == AltNameType::kUri)) {
      reader.error("type", "must be Hostname with a hostname, or URI with a uri");
    }
    const std::string hostname = reader.text("hostname", rule::kHostname);
    if (!hostname.empty()) tls.subjectAltNames.push_back(hostname);
    reader.unsupported("uri", "subjectAltNames of type URI are not supported", true, unsupported);
    reader.finish();
  }
}

void readValidation(FieldReader validation, BackendTls& tls, std::vector<UnsupportedField>& unsupported) {
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
  readValidationAltNames(validation, tls, unsupported);
  validation.finish();
}

BackendTls readTls(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  BackendTls tls;
  tls.path = reader.path();
  tls.position = reader.position();
  reader.require("mode");
  tls.mode = readTlsMode(reader, TlsMode::kNone);
  if (reader.has("validation")) readValidation(reader.map("validation"), tls, unsupported);
  tls.clientCertificateRef = readClientCertificateRef(reader, tls.mode);
  reader.finish();
  return tls;
}

BackendProtocol readProtocol(FieldReader& spec, const Backend& backend) {
  const XBackendProtocol protocol = spec.choice("protocol", kXBackendProtocols, XBackendProtocol::kNotGiven);
  switch (protocol) {
    case XBackendProtocol::kHttp2:
      return BackendProtocol::kHttp2;
    case XBackendProtocol::kH2c:
      if (backend.tls && backend.tls->mode != TlsMode::kNone)
        spec.error("protocol", "H2C is HTTP/2 without TLS: use HTTP2");
      return BackendProtocol::kHttp2;
    case XBackendProtocol::kHttp11:
      return BackendProtocol::kHttp11;
    case XBackendProtocol::kTcp:
    case XBackendProtocol::kMcp:
      return BackendProtocol::kOther;
    case XBackendProtocol::kHttp:
    case XBackendProtocol::kNotGiven:
      return BackendProtocol::kAuto;
  }
  return BackendProtocol::kAuto;
}

}  // namespace

Backend readXBackend(FieldReader& root, ObjectMeta meta) {
  Backend backend;
  backend.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) {
    for (const std::string_view field : {"type", "externalHostname", "port"}) spec.require(field);
  }
  spec.choice("type", kXBackendTypes, XBackendType::kExternalHostname);
  if (spec.has("externalHostname")) {
    FieldReader external = spec.map("externalHostname");
    backend.hostname = readExternalHostname(external, "hostname");
    external.finish();
  }
  if (spec.has("tls")) backend.tls = readTls(spec.map("tls"), backend.unsupported);
  BackendPort port;
  if (spec.has("port")) {
    FieldReader reader = spec.map("port");
    port.name = reader.text("name", rule::kNamespace);
    port.number = reader.requiredPort("port");
    reader.finish();
  }
  port.protocol = readProtocol(spec, backend);
  port.protocolPath = spec.pathOf("protocol");
  if (const Value* given = spec.find("protocol")) port.protocolName = given->text;
  backend.ports.push_back(std::move(port));
  spec.finish();
  return backend;
}

}  // namespace sluice::config
