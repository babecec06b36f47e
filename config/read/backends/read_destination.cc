// Reads the spellings of Backend that have `spec.destination`: the proposal's, its prototype's and this project's own.
#include <algorithm>

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/read/traffic/traffic_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxPorts = 64;
constexpr std::size_t kMaxBackendEndpoints = 16;
constexpr std::uint32_t kLastPriority = 15;
constexpr std::uint32_t kMostWeight = 1000;

/// A type of destination and the only field that it goes with.
struct DestinationType {
  std::string_view name;
  std::string_view field;
};
constexpr DestinationType kFqdn{"Fqdn", "fqdn"};
constexpr DestinationType kIp{"Ip", "ip"};
constexpr DestinationType kKubernetesService{"KubernetesService", "service"};
constexpr DestinationType kService{"Service", "service"};
constexpr DestinationType kEndpoints{"Endpoints", "endpoints"};
constexpr Choice<const DestinationType*> kDestinationTypes[] = {
    {kFqdn.name, &kFqdn}, {kIp.name, &kIp}, {kKubernetesService.name, &kKubernetesService}, {kService.name, &kService}};
constexpr Choice<const DestinationType*> kOwnDestinationTypes[] = {{kFqdn.name, &kFqdn},
                                                                   {kIp.name, &kIp},
                                                                   {kKubernetesService.name, &kKubernetesService},
                                                                   {kService.name, &kService},
                                                                   {kEndpoints.name, &kEndpoints}};

/// `TLS` appears in the proposal's sample and not in its enum. It means HTTP over TLS, in any version.
enum class DestinationProtocol : std::uint8_t { kNotGiven, kHttp, kHttp2, kTls, kTcp, kMcp };
constexpr Choice<DestinationProtocol> kDestinationProtocols[] = {{"HTTP", DestinationProtocol::kHttp},
                                                                 {"HTTP2", DestinationProtocol::kHttp2},
                                                                 {"TCP", DestinationProtocol::kTcp},
                                                                 {"MCP", DestinationProtocol::kMcp},
                                                                 {"TLS", DestinationProtocol::kTls}};

BackendProtocol meaningOf(DestinationProtocol protocol) {
  switch (protocol) {
    case DestinationProtocol::kNotGiven:
    case DestinationProtocol::kHttp:
    case DestinationProtocol::kTls:
      return BackendProtocol::kAuto;
    case DestinationProtocol::kHttp2:
      return BackendProtocol::kHttp2;
    case DestinationProtocol::kTcp:
    case DestinationProtocol::kMcp:
      return BackendProtocol::kOther;
  }
  return BackendProtocol::kOther;
}

/// Reads options that concern MCP alone and have no meaning for HTTP.
void readProtocolOptions(FieldReader& port, std::vector<UnsupportedField>& unsupported) {
  if (!port.has("protocolOptions")) return;
  FieldReader options = port.map("protocolOptions");
  options.require("mcp");
  options.unsupported("mcp", "MCP is not supported", false, unsupported);
  FieldReader mcp = options.map("mcp");
  mcp.anyText("version", 256);
  mcp.anyText("path", 1024);
  mcp.finish();
  options.finish();
}

/// Reads how the gateway speaks to a port: `protocol`, `protocolOptions` and `tls`.
void readProtocolAndTls(FieldReader& reader, const DestinationForm& form, Backend& backend, BackendPort& port) {
  if (form.strict) reader.require("protocol");
  const DestinationProtocol protocol = reader.choice("protocol", kDestinationProtocols, DestinationProtocol::kNotGiven);
  port.protocol = meaningOf(protocol);
  port.protocolPath = reader.pathOf("protocol");
  if (const Value* given = reader.find("protocol")) port.protocolName = given->text;
  if (reader.has("tls")) port.tls = readDestinationTls(reader.map("tls"), form, backend.unsupported);
  if (protocol == DestinationProtocol::kTls) {
    const std::optional<BackendTls>& tls = port.tls ? port.tls : backend.tls;
    if (tls && tls->mode == TlsMode::kNone) reader.error("protocol", "must not be TLS when the mode of tls is None");
    if (!tls) {
      BackendTls& implied = port.tls.emplace();
      implied.mode = TlsMode::kServerAuth;
      implied.path = port.protocolPath;
      implied.position = reader.position();
    }
  }
  readProtocolOptions(reader, backend.unsupported);
}

BackendPort readPort(FieldReader reader, const DestinationForm& form, Backend& backend) {
  BackendPort port;
  port.number = reader.requiredPort("number");
  readProtocolAndTls(reader, form, backend, port);
  reader.finish();
  return port;
}

void readPorts(FieldReader& destination, const DestinationForm& form, Backend& backend) {
  const std::vector<Item> items = destination.list("ports", kMaxPorts);
  if (items.empty() && destination.has("ports")) destination.error("ports", "must have at least one item");
  for (const Item& item : items) {
    BackendPort port = readPort(destination.map(item), form, backend);
    if (port.number != 0 && backend.findPort(port.number) != nullptr) {
      destination.context().error(item.value->position, item.path + ".number",
                                  "repeats " + std::to_string(port.number));
    }
    backend.ports.push_back(std::move(port));
  }
}

void readFqdn(FieldReader fqdn, const DestinationForm& form, bool portsListed, Backend& backend) {
  backend.hostname = readExternalHostname(fqdn, "hostname");
  if (form.first && portsListed) {
    if (fqdn.has("port")) fqdn.error("port", "must not be given together with ports");
  } else if (form.first) {
    BackendPort port;
    port.number = fqdn.requiredPort("port");
    backend.ports.push_back(std::move(port));
  }
  fqdn.finish();
}

/// The first form has one port, beside the hostname; an address has none, so it needs `ports`.
void readIp(FieldReader ip, Backend& backend) {
  backend.hostname = readDestinationAddress(ip);
  ip.finish();
}

/// The proposal requires the namespace; elsewhere it is by default that of the Backend.
void readServiceDestination(FieldReader service, const DestinationForm& form, Backend& backend) {
  if (form.strict) service.require("namespace");
  ObjectRef& ref = backend.service.emplace();
  ref.kind = Service::kKind;
  ref.path = service.path();
  ref.position = service.position();
  ref.name = service.requiredText("name", rule::kObjectName);
  ref.nameSpace = service.text("namespace", rule::kNamespace);
  service.finish();
}

BackendPort readEndpoint(FieldReader reader, const DestinationForm& form, Backend& backend) {
  BackendPort endpoint = readEndpointHost(reader);
  readProtocolAndTls(reader, form, backend, endpoint);
  endpoint.priority = static_cast<std::uint32_t>(reader.integer("priority", 0, kLastPriority).value_or(0));
  endpoint.weight = static_cast<std::uint32_t>(reader.integer("weight", 1, kMostWeight).value_or(1));
  reader.finish();
  return endpoint;
}

void readEndpoints(FieldReader& destination, const DestinationForm& form, Backend& backend) {
  backend.hasEndpoints = true;
  const std::vector<Item> items = destination.list("endpoints", kMaxBackendEndpoints);
  if (items.empty()) destination.error("endpoints", "must have at least one item");
  if (destination.has("ports")) destination.error("ports", "must not be given: each endpoint has a port of its own");
  for (const Item& item : items) {
    addEndpoint(readEndpoint(destination.map(item), form, backend), item, destination.context(), backend);
  }
}

const DestinationType* readType(FieldReader& destination, const DestinationForm& form) {
  destination.require("type");
  return form.own ? destination.choice<const DestinationType*>("type", kOwnDestinationTypes, nullptr, true)
                  : destination.choice<const DestinationType*>("type", kDestinationTypes, nullptr, true);
}

void readDestination(FieldReader destination, const DestinationForm& form, Backend& backend) {
  const DestinationType* type = readType(destination, form);
  for (const std::string_view field : {kFqdn.field, kIp.field, kService.field, kEndpoints.field}) {
    if (field == kEndpoints.field && !form.own) continue;
    const bool given = destination.has(field);
    if (type == nullptr || given == (type->field == field)) continue;
    destination.error(field, given ? "must not be given when type is " + std::string(type->name)
                                   : "is required when type is " + std::string(type->name));
  }
  if (type == &kEndpoints) {
    if (destination.has("endpoints")) readEndpoints(destination, form, backend);
    return destination.finish();
  }
  const bool portsListed = destination.has("ports");
  const bool ofService = type == &kKubernetesService || type == &kService;
  if (!form.first || type == &kIp || ofService) destination.require("ports");
  readPorts(destination, form, backend);
  if (destination.has("fqdn")) readFqdn(destination.map("fqdn"), form, portsListed, backend);
  if (type == &kIp && destination.has("ip")) readIp(destination.map("ip"), backend);
  if (ofService && destination.has("service")) readServiceDestination(destination.map("service"), form, backend);
  destination.finish();
}

}  // namespace

Backend readDestinationBackend(FieldReader& root, ObjectMeta meta, const DestinationForm& form) {
  Backend backend;
  backend.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) spec.require("destination");
  if (form.first && spec.has("tls")) backend.tls = readDestinationTls(spec.map("tls"), form, backend.unsupported);
  if (spec.has("destination")) readDestination(spec.map("destination"), form, backend);
  backend.extensions = readProcessorUses(spec, "extensions");
  if (form.own) {
    readBackendTraffic(spec, backend.traffic, backend.unsupported);
    refuseRequestSettings(spec, backend.traffic);
    if (backend.service && spec.has("dns")) {
      spec.error("dns", "must not be given for a Service, whose endpoints have addresses");
    }
  }
  spec.finish();
  return backend;
}

}  // namespace sluice::config
