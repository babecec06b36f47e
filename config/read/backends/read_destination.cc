// Reads the spellings of Backend with `spec.destination`: those of the proposal, of its prototype and of this project.

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "config/read/processors/processor_readers.h"
#include "config/read/traffic/traffic_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxPorts = 64;
constexpr std::size_t kMaxBackendEndpoints = 16;
constexpr std::size_t kMostRequestedNames = 1000;
constexpr std::uint32_t kLastPriority = 15;
constexpr std::uint32_t kMostWeight = 1000;

/// A type of destination, and the only field that may be present with it.
struct DestinationType {
  std::string_view name;
  std::string_view field;
};
constexpr DestinationType kFqdn{"Fqdn", "fqdn"};
constexpr DestinationType kIp{"Ip", "ip"};
constexpr DestinationType kKubernetesService{"KubernetesService", "service"};
constexpr DestinationType kService{"Service", "service"};
constexpr DestinationType kEndpoints{"Endpoints", "endpoints"};
constexpr DestinationType kDynamic{"Dynamic", "dynamic"};
constexpr Choice<const DestinationType*> kDestinationTypes[] = {
    {kFqdn.name, &kFqdn}, {kIp.name, &kIp}, {kKubernetesService.name, &kKubernetesService}, {kService.name, &kService}};
constexpr Choice<const DestinationType*> kOwnDestinationTypes[] = {{kFqdn.name, &kFqdn},
                                                                   {kIp.name, &kIp},
                                                                   {kKubernetesService.name, &kKubernetesService},
                                                                   {kService.name, &kService},
                                                                   {kEndpoints.name, &kEndpoints},
                                                                   {kDynamic.name, &kDynamic}};

/// `TLS` appears in the sample of the proposal but not in its enum. It means HTTP over TLS, in any version.
constexpr Choice<BackendProtocol> kDestinationProtocols[] = {{"HTTP", BackendProtocol::kAuto},
                                                             {"HTTP2", BackendProtocol::kHttp2},
                                                             {"TCP", BackendProtocol::kOther},
                                                             {"MCP", BackendProtocol::kOther},
                                                             {"TLS", BackendProtocol::kAuto}};

/// Reads options that concern only MCP and have no meaning for HTTP.
void readProtocolOptions(FieldReader options) {
  if (!options.given()) return;
  options.require("mcp");
  options.unsupported("mcp", "MCP is not supported", false);
  FieldReader mcp = options.map("mcp");
  mcp.anyText("version", 256);
  mcp.anyText("path", 1024);
  mcp.finish();
  options.finish();
}

/// Reads `tls` of a port or of the whole Backend.
struct DestinationTlsFields {
  const DestinationForm& form;

  void operator()(FieldReader& tls, BackendTls& result) const { readDestinationTls(tls, form, result); }
};

/// Reads the protocol and the TLS of a port: `protocol`, `protocolOptions` and `tls`.
void readProtocolAndTls(FieldReader& reader, const DestinationForm& form, const Backend& backend, BackendPort& port) {
  if (form.strict) reader.require("protocol");
  reader.read("protocol", port.protocol, kDestinationProtocols);
  port.protocolPath = reader.pathOf("protocol");
  if (const Value* given = reader.find("protocol")) port.protocolName = given->text;
  reader.read("tls", port.tls, DestinationTlsFields{form});
  if (port.protocolName == "TLS") {
    const std::optional<BackendTls>& tls = port.tls ? port.tls : backend.tls;
    if (tls && tls->mode == TlsMode::kNone) reader.error("protocol", "must not be TLS when the mode of tls is None");
    if (!tls) {
      BackendTls& implied = port.tls.emplace();
      implied.mode = TlsMode::kServerAuth;
      implied.path = port.protocolPath;
      implied.position = reader.position();
    }
  }
  readProtocolOptions(reader.map("protocolOptions"));
}

void readPorts(FieldReader& destination, const DestinationForm& form, Backend& backend) {
  for (const Item& item : destination.listOfSome("ports", kMaxPorts)) {
    FieldReader reader = destination.map(item);
    BackendPort port;
    reader.read(required("number"), port.number, kPorts);
    readProtocolAndTls(reader, form, backend, port);
    reader.finish();
    if (port.number != 0 && backend.findPort(port.number) != nullptr) {
      destination.context().error(item.value->position, item.path + ".number",
                                  "repeats " + std::to_string(port.number));
    }
    backend.ports.push_back(std::move(port));
  }
}

/// A hostname like "*.example.com" means that requests name the destination.
void readFqdn(FieldReader fqdn, const DestinationForm& form, bool portsListed, Backend& backend) {
  const Value* const hostname = fqdn.find("hostname");
  if (hostname != nullptr && hostname->text.starts_with("*.")) {
    const Item item{hostname, fqdn.pathOf("hostname")};
    backend.dynamic = DynamicDestination{{readRequestedHostname(fqdn, item)}};
  } else {
    backend.hostname = readExternalHostname(fqdn, "hostname");
  }
  if (form.first && portsListed) {
    if (fqdn.has("port")) fqdn.error("port", "must not be given together with ports");
  } else if (form.first) {
    fqdn.read(required("port"), backend.ports.emplace_back().number, kPorts);
  }
  fqdn.finish();
}

void readIp(FieldReader& ip, std::string& address) { address = readDestinationAddress(ip); }

/// The proposal requires the namespace. In the other spellings, the default is that of the Backend.
void readServiceDestination(FieldReader service, const DestinationForm& form, Backend& backend) {
  if (form.strict) service.require("namespace");
  service.readInto(backend.service.emplace(), [](FieldReader& reader, ObjectRef& ref) {
    ref.kind = Service::kKind;
    reader.read(required("name"), ref.name, rule::kObjectName);
    reader.read("namespace", ref.nameSpace, rule::kNamespace);
  });
}

void readEndpoints(FieldReader& destination, const DestinationForm& form, Backend& backend) {
  backend.hasEndpoints = true;
  const std::vector<Item> items = destination.listOfSome("endpoints", kMaxBackendEndpoints);
  if (destination.has("ports")) destination.error("ports", "must not be given: each endpoint has a port of its own");
  for (const Item& item : items) {
    FieldReader reader = destination.map(item);
    BackendPort endpoint;
    readEndpointHost(reader, endpoint);
    readProtocolAndTls(reader, form, backend, endpoint);
    reader.read("priority", endpoint.priority, {0, kLastPriority});
    reader.read("weight", endpoint.weight, {1, kMostWeight});
    reader.finish();
    addEndpoint(std::move(endpoint), item, destination.context(), backend);
  }
}

void readDynamic(FieldReader dynamic, const DestinationForm& form, Backend& backend) {
  DynamicDestination& destination = backend.dynamic.emplace();
  // Without names it would go anywhere.
  dynamic.require("hostnames");
  for (const Item& item : dynamic.listOfSome("hostnames", kMostRequestedNames)) {
    destination.hostnames.push_back(readRequestedHostname(dynamic, item));
  }
  dynamic.require("ports");
  readPorts(dynamic, form, backend);
  dynamic.finish();
}

const DestinationType* readType(FieldReader& destination, const DestinationForm& form) {
  constexpr FieldKey kType = required("type");
  return form.own ? destination.choice<const DestinationType*>(kType, kOwnDestinationTypes, nullptr, true)
                  : destination.choice<const DestinationType*>(kType, kDestinationTypes, nullptr, true);
}

void readDestination(FieldReader destination, const DestinationForm& form, Backend& backend) {
  const DestinationType* type = readType(destination, form);
  for (const std::string_view field : {kFqdn.field, kIp.field, kService.field, kEndpoints.field, kDynamic.field}) {
    if ((field == kEndpoints.field || field == kDynamic.field) && !form.own) continue;
    destination.ignore(field);
    if (type != nullptr) destination.checkGoesWith(field, type->field == field, "type is " + std::string(type->name));
  }
  if (type == &kEndpoints) {
    if (destination.has("endpoints")) readEndpoints(destination, form, backend);
    return destination.finish();
  }
  if (type == &kDynamic) {
    if (destination.has("ports")) destination.error("ports", "must not be given: dynamic has the ports");
    if (destination.has("dynamic")) readDynamic(destination.map("dynamic"), form, backend);
    return destination.finish();
  }
  const bool portsListed = destination.has("ports");
  const bool ofService = type == &kKubernetesService || type == &kService;
  if (!form.first || type == &kIp || ofService) destination.require("ports");
  readPorts(destination, form, backend);
  if (destination.has("fqdn")) readFqdn(destination.map("fqdn"), form, portsListed, backend);
  // In the first form, the only port is next to the hostname. An address has no such port, so it needs `ports`.
  if (type == &kIp) destination.read("ip", backend.hostname, readIp);
  if (ofService && destination.has("service")) readServiceDestination(destination.map("service"), form, backend);
  destination.finish();
}

/// Reads a Backend whose `spec` has `destination` and `extensions`.
void readDestinationBackend(FieldReader& spec, const DestinationForm& form, Backend& backend) {
  if (spec.given()) spec.require("destination");
  if (form.first) spec.read("tls", backend.tls, DestinationTlsFields{form});
  if (spec.has("destination")) readDestination(spec.map("destination"), form, backend);
  if (backend.dynamic) refuseFixedNames(backend, spec.context());
  readProcessorUses(spec, "extensions", backend.extensions);
  if (!form.own) return;
  readBackendTraffic(spec, backend.traffic);
  refuseRequestSettings(spec, backend.traffic);
  if (backend.service && spec.has("dns")) {
    spec.error("dns", "must not be given for a Service, whose endpoints have addresses");
  }
}

}  // namespace

void readBackendSeed(FieldReader& spec, Backend& backend) { readDestinationBackend(spec, {.first = true}, backend); }

void readPrototypeBackend(FieldReader& spec, Backend& backend) {
  readDestinationBackend(spec, {.strict = true}, backend);
}

void readOwnBackend(FieldReader& spec, Backend& backend) {
  readDestinationBackend(spec, {.first = true, .own = true}, backend);
}

}  // namespace sluice::config
