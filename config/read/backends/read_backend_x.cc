#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::string_view kXBackendTypes[] = {"ExternalHostname"};
constexpr Choice<BackendProtocol> kXBackendProtocols[] = {
    {"TCP", BackendProtocol::kOther},     {"HTTP", BackendProtocol::kAuto}, {"HTTP2", BackendProtocol::kHttp2},
    {"HTTP11", BackendProtocol::kHttp11}, {"H2C", BackendProtocol::kHttp2}, {"MCP", BackendProtocol::kOther}};

void readXBackendTls(FieldReader& reader, BackendTls& tls) {
  reader.require("mode");
  readTlsMode(reader, tls.mode);
  if (reader.has("validation")) readTlsValidation(reader.map("validation"), tls);
  readClientCertificateRef(reader, tls);
}

}  // namespace

void readXBackend(FieldReader& spec, Backend& backend) {
  if (spec.given()) {
    for (const std::string_view field : {"type", "externalHostname", "port"}) spec.require(field);
  }
  spec.word("type", kXBackendTypes, {});
  spec.read("externalHostname", backend.hostname, [](FieldReader& external, std::string& hostname) {
    hostname = readExternalHostname(external, "hostname");
  });
  spec.read("tls", backend.tls, readXBackendTls);
  BackendPort& port = backend.ports.emplace_back();
  spec.read("port", port, [](FieldReader& reader, BackendPort& of) {
    reader.read("name", of.name, rule::kNamespace).read(required("port"), of.number, kPorts);
  });
  spec.read("protocol", port.protocol, kXBackendProtocols);
  port.protocolPath = spec.pathOf("protocol");
  if (const Value* given = spec.find("protocol")) port.protocolName = given->text;
  if (port.protocolName == "H2C" && backend.tls && backend.tls->mode != TlsMode::kNone) {
    spec.error("protocol", "H2C is HTTP/2 without TLS: use HTTP2");
  }
}

}  // namespace sluice::config
