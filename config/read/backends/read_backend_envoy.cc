// Reads the Backend of Envoy Gateway (gateway.envoyproxy.io/v1alpha1).
//
// An API server with Envoy Gateway's definition fills in its defaults. So a field with its default does not show that
// the user wants it.
#include <algorithm>

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostEnvoyEndpoints = 64;
constexpr std::size_t kMostEnvoyProtocols = 16;

constexpr std::string_view kEnvoyTypes[] = {"Endpoints", "DynamicResolver"};

constexpr std::string_view kUnsupportedTls[] = {"minVersion", "maxVersion",          "ciphers",
                                                "ecdhCurves", "signatureAlgorithms", "alpnProtocols"};

void readEnvoyTls(FieldReader& reader, BackendTls& tls) {
  tls.mode = reader.has("clientCertificateRef") ? TlsMode::kMutual : TlsMode::kServerAuth;
  tls.serverName = base::toLower(reader.text("sni", rule::kDomainName));
  readAuthorities(reader, /*isRequired=*/false, tls);
  reader.read("insecureSkipVerify", tls.insecureSkipVerify);
  readClientCertificateRef(reader, tls);
  reader.refuse(kUnsupportedTls);
}

/// Reads the protocols of the endpoints. Those for WebSockets are ignored, because any HTTP/1.1 Backend may use
/// WebSockets.
BackendProtocol readEnvoyProtocols(FieldReader& spec) {
  constexpr std::string_view kH2c = "gateway.envoyproxy.io/h2c";
  constexpr std::string_view kWebSockets[] = {"gateway.envoyproxy.io/ws", "gateway.envoyproxy.io/wss"};
  BackendProtocol protocol = BackendProtocol::kAuto;
  for (const Item& item : spec.list("appProtocols", kMostEnvoyProtocols)) {
    const std::string& name = item.value->text;
    if (name == kH2c) {
      protocol = BackendProtocol::kHttp2;
    } else if (std::find(std::begin(kWebSockets), std::end(kWebSockets), name) == std::end(kWebSockets)) {
      spec.error(item, "must be gateway.envoyproxy.io/h2c, gateway.envoyproxy.io/ws or gateway.envoyproxy.io/wss");
    }
  }
  return protocol;
}

void readEnvoyEndpoint(FieldReader& reader, BackendPort& endpoint) {
  if (reader.has("unix")) {
    reader.unsupported("unix", "sockets of this machine are not supported");
  } else {
    readEndpointHost(reader, endpoint);
  }
  reader.unsupported("hostname", "hostname is not supported: the endpoint's own name or address is its authority");
  reader.unsupported("zone", "zones are not supported: the endpoint is used wherever it is", false);
}

}  // namespace

void readEnvoyBackend(FieldReader& spec, Backend& backend) {
  const bool isResolver = spec.word("type", kEnvoyTypes, "Endpoints") == "DynamicResolver";
  backend.hasEndpoints = !isResolver;
  const std::vector<Item> items = spec.list("endpoints", kMostEnvoyEndpoints);
  if (items.empty() != isResolver) {
    spec.error("endpoints",
               items.empty() ? "must have at least one item" : "must not be given when type is DynamicResolver");
  }
  const BackendProtocol protocol = readEnvoyProtocols(spec);
  for (const Item& item : items) {
    BackendPort endpoint;
    spec.map(item).readInto(endpoint, readEnvoyEndpoint);
    endpoint.protocol = protocol;
    endpoint.protocolPath = spec.pathOf("appProtocols");
    addEndpoint(std::move(endpoint), item, spec.context(), backend);
  }
  if (isResolver) {
    backend.dynamic.emplace();
    BackendPort& any = backend.ports.emplace_back();
    any.protocol = protocol;
    any.protocolPath = spec.pathOf("appProtocols");
  }
  spec.read("fallback", backend.isFallback);
  spec.read("tls", backend.tls, readEnvoyTls);
  if (isResolver) refuseFixedNames(backend, spec.context());
}

}  // namespace sluice::config
