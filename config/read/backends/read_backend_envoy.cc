// Reads the Backend of Envoy Gateway (gateway.envoyproxy.io/v1alpha1).
//
// An API server that has Envoy Gateway's definition fills in its defaults, so a field that has its default says nothing
// about what the user wants.
#include <algorithm>

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostEnvoyEndpoints = 64;
constexpr std::size_t kMostEnvoyCaRefs = 8;
constexpr std::size_t kMostEnvoyProtocols = 16;

enum class EnvoyBackendType : std::uint8_t { kEndpoints, kDynamicResolver };
constexpr Choice<EnvoyBackendType> kEnvoyTypes[] = {{"Endpoints", EnvoyBackendType::kEndpoints},
                                                    {"DynamicResolver", EnvoyBackendType::kDynamicResolver}};

constexpr std::string_view kUnsupportedTls[] = {"minVersion", "maxVersion",          "ciphers",
                                                "ecdhCurves", "signatureAlgorithms", "alpnProtocols"};

BackendTls readEnvoyTls(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  BackendTls tls;
  tls.path = reader.path();
  tls.position = reader.position();
  tls.mode = reader.has("clientCertificateRef") ? TlsMode::kMutual : TlsMode::kServerAuth;
  tls.serverName = base::toLower(reader.text("sni", rule::kDomainName));
  tls.caRefs = readObjectRefs(reader, "caCertificateRefs", kMostEnvoyCaRefs, {"", "", true}, false);
  const std::string wellKnown = reader.text("wellKnownCACertificates", rule::kAnyText);
  if (!tls.caRefs.empty() && !wellKnown.empty()) {
    reader.error("wellKnownCACertificates", "must not be given together with caCertificateRefs");
  }
  if (!wellKnown.empty() && wellKnown != "System") {
    reader.unsupported("wellKnownCACertificates", "well-known authorities other than System are not supported", true,
                       unsupported);
  }
  tls.insecureSkipVerify = reader.boolean("insecureSkipVerify", false);
  tls.clientCertificateRef = readClientCertificateRef(reader, tls.mode);
  for (const std::string_view field : kUnsupportedTls) {
    reader.unsupported(field, std::string(field) + " is not supported", true, unsupported);
  }
  reader.finish();
  return tls;
}

/// Reads what the endpoints speak. Protocols for WebSockets say nothing new: any HTTP/1.1 Backend may take them.
BackendProtocol readEnvoyProtocols(FieldReader& spec) {
  constexpr std::string_view kH2c = "gateway.envoyproxy.io/h2c";
  constexpr std::string_view kWebSockets[] = {"gateway.envoyproxy.io/ws", "gateway.envoyproxy.io/wss"};
  BackendProtocol protocol = BackendProtocol::kAuto;
  for (const Item& item : spec.list("appProtocols", kMostEnvoyProtocols)) {
    const std::string& name = item.value->text;
    if (name == kH2c) {
      protocol = BackendProtocol::kHttp2;
    } else if (std::find(std::begin(kWebSockets), std::end(kWebSockets), name) == std::end(kWebSockets)) {
      spec.context().error(item.value->position, item.path,
                           "must be gateway.envoyproxy.io/h2c, gateway.envoyproxy.io/ws or gateway.envoyproxy.io/wss");
    }
  }
  return protocol;
}

BackendPort readEnvoyEndpoint(FieldReader reader, std::vector<UnsupportedField>& unsupported) {
  BackendPort endpoint;
  if (reader.has("unix")) {
    reader.unsupported("unix", "sockets of this machine are not supported", true, unsupported);
  } else {
    endpoint = readEndpointHost(reader);
  }
  reader.unsupported("hostname", "hostname is not supported: the endpoint's own name or address is its authority", true,
                     unsupported);
  reader.unsupported("zone", "zones are not supported: the endpoint is used wherever it is", false, unsupported);
  reader.finish();
  return endpoint;
}

}  // namespace

Backend readEnvoyBackend(FieldReader& root, ObjectMeta meta) {
  Backend backend;
  backend.meta = std::move(meta);
  backend.hasEndpoints = true;
  root.require("spec");
  FieldReader spec = root.map("spec");
  const EnvoyBackendType type = spec.choice("type", kEnvoyTypes, EnvoyBackendType::kEndpoints);
  if (type == EnvoyBackendType::kDynamicResolver) {
    spec.unsupported("type", "Backends of type DynamicResolver are not supported", true, backend.unsupported);
  }
  const std::vector<Item> items = spec.list("endpoints", kMostEnvoyEndpoints);
  if (items.empty() == (type == EnvoyBackendType::kEndpoints)) {
    spec.error("endpoints",
               items.empty() ? "must have at least one item" : "must not be given when type is DynamicResolver");
  }
  const BackendProtocol protocol = readEnvoyProtocols(spec);
  for (const Item& item : items) {
    BackendPort endpoint = readEnvoyEndpoint(spec.map(item), backend.unsupported);
    endpoint.protocol = protocol;
    endpoint.protocolPath = spec.pathOf("appProtocols");
    addEndpoint(std::move(endpoint), item, spec.context(), backend);
  }
  backend.isFallback = spec.boolean("fallback", false);
  if (spec.has("tls")) backend.tls = readEnvoyTls(spec.map("tls"), backend.unsupported);
  spec.finish();
  return backend;
}

}  // namespace sluice::config
