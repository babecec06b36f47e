#include <algorithm>

#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxListeners = 64;
constexpr std::size_t kMaxCertificateRefs = 64;
constexpr std::size_t kMaxRouteKinds = 8;
constexpr std::size_t kMaxGatewayAddresses = 16;
constexpr std::size_t kMaxFrontendAuthorities = 16;  // of one way to verify clients
constexpr std::size_t kMaxFrontendPorts = 64;
constexpr std::size_t kMaxInfrastructureLabels = 8;
constexpr std::size_t kMaxInfrastructureAnnotations = 16;

constexpr Choice<ListenerTlsMode> kListenerTlsModes[] = {{"Terminate", ListenerTlsMode::kTerminate},
                                                         {"Passthrough", ListenerTlsMode::kPassthrough}};
constexpr Choice<RouteNamespaces> kRouteNamespaces[] = {
    {"Same", RouteNamespaces::kSame}, {"All", RouteNamespaces::kAll}, {"Selector", RouteNamespaces::kSelector}};

constexpr Choice<bool> kFrontendModes[] = {{"AllowValidOnly", false}, {"AllowInsecureFallback", true}};

void readListenerTls(FieldReader& tls, ListenerTls& result) {
  tls.read("mode", result.mode, kListenerTlsModes);
  tls.read("certificateRefs", result.certificateRefs, kMaxCertificateRefs, kSecretRef);
  tls.unsupported("options", "TLS options are not supported");
  const bool anything = tls.has("certificateRefs") || tls.has("options");
  if (result.mode == ListenerTlsMode::kTerminate && !anything) {
    tls.error("certificateRefs", "is required when mode is Terminate");
  }
}

void readRouteKind(FieldReader& reader, RouteKind& routeKind) {
  routeKind.group = readGroup(reader, kGatewayGroup);
  reader.read(required("kind"), routeKind.kind, rule::kKind);
}

void readAllowedRoutes(FieldReader allowed, Listener& listener) {
  FieldReader namespaces = allowed.map("namespaces");
  namespaces.read("from", listener.routeNamespaces, kRouteNamespaces);
  if (listener.routeNamespaces == RouteNamespaces::kSelector) {
    if (!namespaces.has("selector")) namespaces.error("selector", "is required when from is Selector");
    namespaces.read("selector", listener.namespaceSelector, readLabelSelector);
  }
  namespaces.ignore("selector");
  namespaces.finish();
  std::vector<RouteKind> kinds;
  allowed.read("kinds", kinds, kMaxRouteKinds, readRouteKind);
  // An empty list means the same as an absent one.
  if (!kinds.empty()) listener.routeKinds = std::move(kinds);
  allowed.finish();
}

struct ProtocolWord {
  std::string_view word;
  ListenerProtocol protocol;
};
constexpr ProtocolWord kListenerProtocols[] = {{"HTTP", ListenerProtocol::kHttp},
                                               {"HTTPS", ListenerProtocol::kHttps},
                                               {"sluice.dev/HTTPPROXY", ListenerProtocol::kHttpProxy},
                                               {"sluice.dev/HTTPSPROXY", ListenerProtocol::kHttpsProxy}};

ListenerProtocol protocolOf(std::string_view word) {
  for (const ProtocolWord& each : kListenerProtocols) {
    if (each.word == word) return each.protocol;
  }
  return ListenerProtocol::kOther;
}

/// Checks the schema's rules between protocol, tls and hostname.
void checkListener(FieldReader& reader, const Listener& listener) {
  const std::string& protocol = listener.protocolName;
  const bool datagramOrStream = protocol == "TCP" || protocol == "UDP";
  if ((protocol == "HTTP" || datagramOrStream) && listener.tls) {
    reader.error("tls", "must not be given for protocol " + protocol);
  }
  if (protocol == "HTTPS" && listener.tls && listener.tls->mode != ListenerTlsMode::kTerminate) {
    reader.error("tls", "mode must be Terminate for protocol HTTPS");
  }
  if (datagramOrStream && !listener.hostname.empty()) {
    reader.error("hostname", "must not be given for protocol " + protocol);
  }
}

void readListener(FieldReader& reader, Listener& listener) {
  reader.read(required("name"), listener.name, rule::kSectionName);
  reader.read("hostname", listener.hostname, rule::kHostname);
  reader.read(required("port"), listener.port, kPorts);
  reader.read(required("protocol"), listener.protocolName, rule::kListenerProtocol);
  listener.protocol = protocolOf(listener.protocolName);
  reader.read("tls", listener.tls, readListenerTls);
  readAllowedRoutes(reader.map("allowedRoutes"), listener);
  checkListener(reader, listener);
}

/// Appends the listeners that could be read and do not repeat another one.
void readListeners(FieldReader& spec, std::vector<Listener>& listeners) {
  spec.require("listeners");
  ObjectContext& context = spec.context();
  for (const Item& item : spec.listOfSome("listeners", kMaxListeners)) {
    FieldReader reader = spec.map(item);
    Listener listener;
    reader.readInto(listener, readListener);
    for (const Listener& other : listeners) {
      if (other.name == listener.name) {
        context.error(listener.position, listener.path + ".name", "repeats the name of " + other.path);
      }
      if (other.port == listener.port && other.protocolName == listener.protocolName &&
          other.hostname == listener.hostname) {
        context.error(listener.position, listener.path, "repeats port, protocol and hostname of " + other.path);
      }
    }
    if (reader.isLegible()) listeners.push_back(std::move(listener));
  }
}

void readGatewayAddress(FieldReader& reader, GatewayAddress& address) {
  reader.read("type", address.type, rule::kAnyText);
  address.value = reader.anyText("value", 253);
  if (address.type == "IPAddress" && !address.value.empty() && !isIpAddress(address.value)) {
    reader.error("value", "must be an IP address, but is " + base::quote(address.value));
  }
}

void readAddresses(FieldReader& spec, std::vector<GatewayAddress>& addresses) {
  for (const Item& item : spec.list("addresses", kMaxGatewayAddresses)) {
    GatewayAddress address;
    spec.map(item).readInto(address, readGatewayAddress);
    const bool repeated =
        !address.value.empty() && std::any_of(addresses.begin(), addresses.end(), [&](const GatewayAddress& other) {
          return other.type == address.type && other.value == address.value;
        });
    if (repeated) spec.map(item).error("value", "repeats " + base::quote(address.value));
    addresses.push_back(std::move(address));
  }
}

std::map<std::string, std::string> readMetadata(FieldReader& reader, std::string_view key, std::size_t maxItems,
                                                std::size_t maxLength) {
  auto texts = reader.textMap(key, maxLength);
  if (texts.size() > maxItems) reader.error(key, "must have at most " + std::to_string(maxItems) + " items");
  return texts;
}

void readInfrastructure(FieldReader& reader, Infrastructure& infrastructure) {
  infrastructure.labels = readMetadata(reader, "labels", kMaxInfrastructureLabels, 63);
  infrastructure.annotations = readMetadata(reader, "annotations", kMaxInfrastructureAnnotations, 4096);
  reader.read("parametersRef", infrastructure.parametersRef, kAnyRef);
}

void readFrontendValidation(FieldReader& reader, FrontendValidation& validation) {
  constexpr ObjectRefFields kAuthorityRef{{"", "", /*required=*/true}, true};
  reader.require("caCertificateRefs");
  for (const Item& item : reader.listOfSome("caCertificateRefs", kMaxFrontendAuthorities)) {
    reader.map(item).readInto(validation.caCertificateRefs.emplace_back(), kAuthorityRef);
  }
  reader.read("mode", validation.insecureFallback, kFrontendModes);
}

void readFrontendTls(FieldReader& reader, std::optional<FrontendValidation>& validation) {
  reader.read("validation", validation, readFrontendValidation);
}

void readFrontendPort(FieldReader& reader, FrontendPort& port) {
  reader.read(required("port"), port.port, kPorts);
  reader.require("tls");
  FieldReader tls = reader.map("tls");
  readFrontendTls(tls, port.validation);
  tls.finish();
}

void readFrontendFields(FieldReader& reader, GatewayFrontend& frontend) {
  reader.require("default");
  FieldReader byDefault = reader.map("default");
  readFrontendTls(byDefault, frontend.byDefault);
  byDefault.finish();
  for (const Item& item : reader.list("perPort", kMaxFrontendPorts)) {
    FrontendPort port;
    FieldReader each = reader.map(item);
    each.readInto(port, readFrontendPort);
    const bool repeated = std::any_of(frontend.perPort.begin(), frontend.perPort.end(),
                                      [&](const FrontendPort& other) { return other.port == port.port; });
    if (repeated && port.port != 0) each.error("port", "repeats " + std::to_string(port.port));
    frontend.perPort.push_back(std::move(port));
  }
}

/// Reads how clients are verified. A field that is not known here could demand more of them, so it closes the listeners
/// wherever it comes from.
void readFrontend(FieldReader& tls, std::optional<GatewayFrontend>& frontend) {
  const std::size_t illegible = tls.context().illegibleFields();
  tls.read("frontend", frontend, readFrontendFields);
  if (tls.context().illegibleFields() == illegible) return;
  tls.unsupported("frontend", "parts of it cannot be read, so it is not known which clients may be served");
}

void checkRollout(ObjectContext& context, const ObjectMeta& meta) {
  const auto rollout = meta.annotations.find(std::string(Gateway::kRollout));
  if (rollout == meta.annotations.end() || rollout->second == Gateway::kCanary) return;
  context.warning(meta.position, "metadata.annotations[" + std::string(Gateway::kRollout) + "]",
                  "must be " + std::string(Gateway::kCanary) + ", or all replicas serve a new configuration at once");
}

}  // namespace

void readGatewayClass(FieldReader& spec, GatewayClass& gatewayClass) {
  spec.read(required("controllerName"), gatewayClass.controllerName, rule::kControllerName);
  gatewayClass.description = spec.anyText("description", 64);
  spec.read("parametersRef", gatewayClass.parametersRef, ObjectRefFields{{"", "", true}, true});
}

bool readGateway(FieldReader& spec, Gateway& gateway) {
  ObjectContext& context = spec.context();
  checkRollout(context, gateway.meta);
  const std::size_t before = context.errors();
  spec.read(required("gatewayClassName"), gateway.gatewayClassName, rule::kRefName);
  readAddresses(spec, gateway.addresses);
  spec.read("infrastructure", gateway.infrastructure, readInfrastructure);
  spec.unsupported("allowedListeners", "ListenerSets are not supported", false);
  spec.unsupported("defaultScope", "default Gateways are not supported", false);
  FieldReader tls = spec.map("tls");
  tls.unsupported("backend", "a client certificate for all Backends is not supported");
  readFrontend(tls, gateway.frontend);
  tls.finish();
  const std::size_t listenerErrors = context.errors();
  readListeners(spec, gateway.listeners);
  const std::size_t afterListeners = context.errors();
  spec.finish();
  return listenerErrors == before && context.errors() == afterListeners;
}

}  // namespace sluice::config
