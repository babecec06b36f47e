#include <algorithm>

#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxListeners = 64;
constexpr std::size_t kMaxCertificateRefs = 64;
constexpr std::size_t kMaxRouteKinds = 8;
constexpr std::size_t kMaxGatewayAddresses = 16;
constexpr std::size_t kMaxInfrastructureLabels = 8;
constexpr std::size_t kMaxInfrastructureAnnotations = 16;

constexpr Choice<ListenerTlsMode> kListenerTlsModes[] = {{"Terminate", ListenerTlsMode::kTerminate},
                                                         {"Passthrough", ListenerTlsMode::kPassthrough}};
constexpr Choice<RouteNamespaces> kRouteNamespaces[] = {
    {"Same", RouteNamespaces::kSame}, {"All", RouteNamespaces::kAll}, {"Selector", RouteNamespaces::kSelector}};

ListenerTls readListenerTls(FieldReader tls, std::vector<UnsupportedField>& unsupported) {
  ListenerTls result;
  result.mode = tls.choice("mode", kListenerTlsModes, ListenerTlsMode::kTerminate);
  result.certificateRefs = readObjectRefs(tls, "certificateRefs", kMaxCertificateRefs, {"", "Secret"}, true);
  tls.unsupported("options", "TLS options are not supported", true, unsupported);
  const bool anything = tls.has("certificateRefs") || tls.has("options");
  if (result.mode == ListenerTlsMode::kTerminate && !anything) {
    tls.error("certificateRefs", "is required when mode is Terminate");
  }
  tls.finish();
  return result;
}

void readAllowedRoutes(FieldReader allowed, Listener& listener) {
  FieldReader namespaces = allowed.map("namespaces");
  listener.routeNamespaces = namespaces.choice("from", kRouteNamespaces, RouteNamespaces::kSame);
  if (listener.routeNamespaces == RouteNamespaces::kSelector) {
    if (!namespaces.has("selector")) namespaces.error("selector", "is required when from is Selector");
    listener.namespaceSelector = readLabelSelector(namespaces.map("selector"));
  }
  namespaces.ignore("selector");
  namespaces.finish();
  if (allowed.has("kinds")) {
    std::vector<RouteKind> kinds;
    for (const Item& item : allowed.list("kinds", kMaxRouteKinds)) {
      FieldReader kind = allowed.map(item);
      const Value* group = kind.find("group");
      const bool core = group != nullptr && group->isString() && group->text.empty();
      RouteKind routeKind;
      routeKind.group = group == nullptr ? std::string(kGatewayGroup) : core ? "" : kind.text("group", rule::kGroup);
      routeKind.kind = kind.requiredText("kind", rule::kKind);
      kind.finish();
      kinds.push_back(std::move(routeKind));
    }
    // An empty list means the same as an absent one.
    if (!kinds.empty()) listener.routeKinds = std::move(kinds);
  }
  allowed.finish();
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

Listener readListener(FieldReader reader) {
  Listener listener;
  listener.path = reader.path();
  listener.position = reader.position();
  listener.name = reader.requiredText("name", rule::kSectionName);
  listener.hostname = reader.text("hostname", rule::kHostname);
  listener.port = reader.requiredPort("port");
  listener.protocolName = reader.requiredText("protocol", rule::kListenerProtocol);
  listener.protocol = listener.protocolName == "HTTP"    ? ListenerProtocol::kHttp
                      : listener.protocolName == "HTTPS" ? ListenerProtocol::kHttps
                                                         : ListenerProtocol::kOther;
  if (reader.has("tls")) listener.tls = readListenerTls(reader.map("tls"), listener.unsupported);
  readAllowedRoutes(reader.map("allowedRoutes"), listener);
  checkListener(reader, listener);
  reader.finish();
  return listener;
}

/// Appends the listeners that are legible and do not repeat another one.
void readListeners(FieldReader& spec, std::vector<Listener>& listeners) {
  spec.require("listeners");
  ObjectContext& context = spec.context();
  const std::vector<Item> items = spec.list("listeners", kMaxListeners);
  if (items.empty() && spec.has("listeners")) spec.error("listeners", "must have at least one item");
  for (const Item& item : items) {
    const std::size_t errors = context.errors();
    Listener listener = readListener(spec.map(item));
    for (const Listener& other : listeners) {
      if (other.name == listener.name) {
        context.error(listener.position, listener.path + ".name", "repeats the name of " + other.path);
      }
      if (other.port == listener.port && other.protocolName == listener.protocolName &&
          other.hostname == listener.hostname) {
        context.error(listener.position, listener.path, "repeats port, protocol and hostname of " + other.path);
      }
    }
    if (context.errors() == errors) listeners.push_back(std::move(listener));
  }
}

std::vector<GatewayAddress> readAddresses(FieldReader& spec) {
  std::vector<GatewayAddress> addresses;
  for (const Item& item : spec.list("addresses", kMaxGatewayAddresses)) {
    FieldReader reader = spec.map(item);
    GatewayAddress address;
    address.path = reader.path();
    address.position = reader.position();
    if (reader.has("type")) address.type = reader.text("type", rule::kAnyText);
    address.value = reader.anyText("value", 253);
    if (address.type == "IPAddress" && !address.value.empty() && !isIpAddress(address.value)) {
      reader.error("value", "must be an IP address, but is " + base::quote(address.value));
    }
    const bool repeated =
        !address.value.empty() && std::any_of(addresses.begin(), addresses.end(), [&](const GatewayAddress& other) {
          return other.type == address.type && other.value == address.value;
        });
    if (repeated) reader.error("value", "repeats " + base::quote(address.value));
    reader.finish();
    addresses.push_back(std::move(address));
  }
  return addresses;
}

std::map<std::string, std::string> readMetadata(FieldReader& reader, std::string_view key, std::size_t maxItems,
                                                std::size_t maxLength) {
  auto texts = reader.textMap(key, maxLength);
  if (texts.size() > maxItems) reader.error(key, "must have at most " + std::to_string(maxItems) + " items");
  return texts;
}

Infrastructure readInfrastructure(FieldReader reader) {
  Infrastructure infrastructure;
  infrastructure.labels = readMetadata(reader, "labels", kMaxInfrastructureLabels, 63);
  infrastructure.annotations = readMetadata(reader, "annotations", kMaxInfrastructureAnnotations, 4096);
  if (reader.has("parametersRef")) {
    FieldReader ref = reader.map("parametersRef");
    infrastructure.parametersRef = readObjectRef(ref, {"", "", true}, false);
    ref.finish();
  }
  reader.finish();
  return infrastructure;
}

}  // namespace

std::optional<Gateway> readGateway(FieldReader& root, ObjectMeta meta) {
  Gateway gateway;
  gateway.meta = std::move(meta);
  ObjectContext& context = root.context();
  const auto rollout = gateway.meta.annotations.find(std::string(Gateway::kRollout));
  if (rollout != gateway.meta.annotations.end() && rollout->second != Gateway::kCanary) {
    context.warning(gateway.meta.position, "metadata.annotations[" + std::string(Gateway::kRollout) + "]",
                    "must be " + std::string(Gateway::kCanary) + ", or all replicas serve a new configuration at once");
  }
  root.require("spec");
  FieldReader spec = root.map("spec");
  const std::size_t before = context.errors();
  gateway.gatewayClassName = spec.requiredText("gatewayClassName", rule::kRefName);
  gateway.addresses = readAddresses(spec);
  gateway.infrastructure = readInfrastructure(spec.map("infrastructure"));
  spec.unsupported("allowedListeners", "ListenerSets are not supported", false, gateway.unsupported);
  spec.unsupported("defaultScope", "default Gateways are not supported", false, gateway.unsupported);
  FieldReader tls = spec.map("tls");
  tls.unsupported("backend", "a client certificate for all Backends is not supported", true, gateway.unsupported);
  tls.unsupported("frontend", "validation of client certificates is not supported", true, gateway.unsupported);
  tls.finish();
  const std::size_t listenerErrors = context.errors();
  readListeners(spec, gateway.listeners);
  const std::size_t afterListeners = context.errors();
  spec.finish();
  const bool restLegible = listenerErrors == before && context.errors() == afterListeners;
  if (!restLegible) return std::nullopt;
  return gateway;
}

}  // namespace sluice::config
