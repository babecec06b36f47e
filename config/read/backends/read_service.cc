// Reads core/v1 Service and discovery.k8s.io/v1 EndpointSlice. They belong to another API: only the fields that decide
// where requests go are read, and all others are ignored.
#include <utility>

#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxServicePorts = 20000;
// The API has these bounds.
constexpr std::size_t kMaxSlicePorts = 20000;
constexpr std::size_t kMaxEndpoints = 1000;
constexpr std::size_t kMaxEndpointAddresses = 100;
constexpr std::size_t kMaxZoneHints = 8;

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

void readServicePort(FieldReader& reader, ServicePort& port) {
  port.name = reader.anyText("name", rule::kSectionName.maxLength);
  reader.read(required("port"), port.number, kPorts);
  port.targetPort = readTargetPort(reader);
  reader.read("protocol", port.protocol, kTransportProtocols);
  port.appProtocol = reader.anyText("appProtocol", rule::kAnyText.maxLength);
  reader.ignoreOthers();
}

void readSlicePort(FieldReader& reader, EndpointSlice::Port& port) {
  port.name = reader.anyText("name", rule::kSectionName.maxLength);
  reader.read("port", port.number, kPorts);
  reader.read("protocol", port.protocol, kTransportProtocols);
  reader.ignoreOthers();
}

bool isOfType(std::string_view address, AddressType type) {
  if (type == AddressType::kFqdn) return true;
  return isIpAddress(address) && (address.find(':') != std::string_view::npos) == (type == AddressType::kIpv6);
}

/// Reads the first address. The API gives further ones no meaning (EndpointSlice endpoints.addresses).
std::optional<std::string> readAddress(FieldReader& endpoint, AddressType type) {
  endpoint.require("addresses");
  const std::vector<std::string> addresses = endpoint.texts("addresses", rule::kHostText, kMaxEndpointAddresses);
  if (addresses.empty()) return std::nullopt;
  if (isOfType(addresses.front(), type)) return addresses.front();
  endpoint.error("addresses", "must be addresses of the slice's addressType, but is " + base::quote(addresses.front()));
  return std::nullopt;
}

void readZoneHint(FieldReader& reader, std::string& zone) {
  reader.read(required("name"), zone, rule::kAnyText);
  reader.ignoreOthers();
}

// A text that is no zone's name costs no endpoint: no gateway is in such a zone.
base::EndpointZones readZones(FieldReader& endpoint) {
  base::EndpointZones zones;
  endpoint.read("zone", zones.zone, rule::kAnyText);
  FieldReader hints = endpoint.map("hints");
  hints.read("forZones", zones.hints, kMaxZoneHints, readZoneHint);
  return zones;
}

}  // namespace

void readService(FieldReader& root, Service& service) {
  root.ignoreOthers();
  root.require("spec");
  FieldReader spec = root.map("spec");
  spec.read("type", service.isExternalName, kServiceTypes);
  spec.read("ports", service.ports, kMaxServicePorts, readServicePort);
  const std::vector<Item> families = spec.list("ipFamilies", 2);
  if (!families.empty()) service.prefersIpv6 = families.front().value->text == "IPv6";
}

void readEndpointSlice(FieldReader& root, EndpointSlice& slice) {
  const auto label = slice.meta.labels.find(std::string(EndpointSlice::kServiceLabel));
  if (label != slice.meta.labels.end()) slice.service = label->second;
  root.ignoreOthers();
  slice.addressType = root.choice(required("addressType"), kAddressTypes, AddressType::kFqdn);
  root.read("ports", slice.ports, kMaxSlicePorts, readSlicePort);
  for (const Item& item : root.list("endpoints", kMaxEndpoints)) {
    FieldReader endpoint = root.map(item);
    const std::optional<std::string> address = readAddress(endpoint, slice.addressType);
    FieldReader conditions = endpoint.map("conditions");
    base::EndpointZones zones = readZones(endpoint);
    // An endpoint whose condition is unknown is treated as ready. A terminating endpoint is not ready, but may serve.
    const bool ready = conditions.boolean("ready", true);
    const bool serving = conditions.boolean("serving", false);
    const bool terminating = conditions.boolean("terminating", false);
    if (!address || (!ready && !(serving && terminating))) continue;
    slice.endpoints.push_back({*address, std::move(zones), !ready});
  }
}

}  // namespace sluice::config
