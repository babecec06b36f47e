// Reads core/v1 Service and discovery.k8s.io/v1 EndpointSlice. They are objects of another API: only the fields that
// decide where requests go are read, and all others are ignored.
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxServicePorts = 20000;
// These bounds are the API's.
constexpr std::size_t kMaxSlicePorts = 20000;
constexpr std::size_t kMaxEndpoints = 1000;
constexpr std::size_t kMaxEndpointAddresses = 100;

constexpr Choice<bool> kServiceTypes[] = {
    {"ClusterIP", false}, {"NodePort", false}, {"LoadBalancer", false}, {"ExternalName", true}};
constexpr Choice<TransportProtocol> kTransportProtocols[] = {
    {"TCP", TransportProtocol::kTcp}, {"UDP", TransportProtocol::kOther}, {"SCTP", TransportProtocol::kOther}};
constexpr Choice<AddressType> kAddressTypes[] = {
    {"IPv4", AddressType::kIpv4}, {"IPv6", AddressType::kIpv6}, {"FQDN", AddressType::kFqdn}};

/// Returns a port given as a number. A name means a port of the Pods, whose number is in the EndpointSlices.
std::uint16_t readTargetPort(FieldReader& port) {
  const Value* given = port.find("targetPort");
  return given != nullptr && given->kind == Value::Kind::kNumber ? port.port("targetPort") : std::uint16_t{0};
}

ServicePort readServicePort(FieldReader reader) {
  ServicePort port;
  port.name = reader.anyText("name", rule::kSectionName.maxLength);
  port.number = reader.requiredPort("port");
  port.targetPort = readTargetPort(reader);
  port.protocol = reader.choice("protocol", kTransportProtocols, TransportProtocol::kTcp);
  port.appProtocol = reader.anyText("appProtocol", rule::kAnyText.maxLength);
  return port;
}

EndpointSlice::Port readSlicePort(FieldReader reader) {
  EndpointSlice::Port port;
  port.name = reader.anyText("name", rule::kSectionName.maxLength);
  port.number = reader.port("port");
  port.protocol = reader.choice("protocol", kTransportProtocols, TransportProtocol::kTcp);
  return port;
}

bool isOfType(std::string_view address, AddressType type) {
  if (type == AddressType::kFqdn) return true;
  return isIpAddress(address) && (address.find(':') != std::string_view::npos) == (type == AddressType::kIpv6);
}

/// Reads the first address; further ones have no meaning (EndpointSlice endpoints.addresses).
std::optional<std::string> readAddress(FieldReader& endpoint, AddressType type) {
  endpoint.require("addresses");
  const std::vector<std::string> addresses = endpoint.texts("addresses", rule::kHostText, kMaxEndpointAddresses);
  if (addresses.empty()) return std::nullopt;
  if (isOfType(addresses.front(), type)) return addresses.front();
  endpoint.error("addresses", "must be addresses of the slice's addressType, but is " + base::quote(addresses.front()));
  return std::nullopt;
}

}  // namespace

Service readService(FieldReader& root, ObjectMeta meta) {
  Service service;
  service.meta = std::move(meta);
  root.ignoreOthers();
  root.require("spec");
  FieldReader spec = root.map("spec");
  service.isExternalName = spec.choice("type", kServiceTypes, false);
  for (const Item& item : spec.list("ports", kMaxServicePorts))
    service.ports.push_back(readServicePort(spec.map(item)));
  const std::vector<Item> families = spec.list("ipFamilies", 2);
  if (!families.empty()) service.prefersIpv6 = families.front().value->text == "IPv6";
  return service;
}

EndpointSlice readEndpointSlice(FieldReader& root, ObjectMeta meta) {
  EndpointSlice slice;
  if (const auto label = meta.labels.find(std::string(EndpointSlice::kServiceLabel)); label != meta.labels.end()) {
    slice.service = label->second;
  }
  slice.meta = std::move(meta);
  root.ignoreOthers();
  root.require("addressType");
  slice.addressType = root.choice("addressType", kAddressTypes, AddressType::kFqdn);
  for (const Item& item : root.list("ports", kMaxSlicePorts)) slice.ports.push_back(readSlicePort(root.map(item)));
  for (const Item& item : root.list("endpoints", kMaxEndpoints)) {
    FieldReader endpoint = root.map(item);
    const std::optional<std::string> address = readAddress(endpoint, slice.addressType);
    FieldReader conditions = endpoint.map("conditions");
    // An unknown condition counts as ready. A terminating endpoint is not ready.
    if (conditions.boolean("ready", true) && address) slice.addresses.push_back(*address);
  }
  return slice;
}

}  // namespace sluice::config
