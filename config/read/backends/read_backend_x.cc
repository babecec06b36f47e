#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

enum class XBackendType : std::uint8_t { kExternalHostname };
constexpr Choice<XBackendType> kXBackendTypes[] = {{"ExternalHostname", XBackendType::kExternalHostname}};

enum class XBackendProtocol : std::uint8_t { kNotGiven, kTcp, kHttp, kHttp2, kHttp11, kH2c, kMcp };
constexpr Choice<XBackendProtocol> kXBackendProtocols[] = {
    {"TCP", XBackendProtocol::kTcp},       {"HTTP", XBackendProtocol::kHttp}, {"HTTP2", XBackendProtocol::kHttp2},
    {"HTTP11", XBackendProtocol::kHttp11}, {"H2C", XBackendProtocol::kH2c},   {"MCP", XBackendProtocol::kMcp}};

BackendTls readTls(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  BackendTls tls;
  tls.path = reader.path();
  tls.position = reader.position();
  reader.require("mode");
  tls.mode = readTlsMode(reader, TlsMode::kNone);
  if (reader.has("validation")) readTlsValidation(reader.map("validation"), tls, unsupported);
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
