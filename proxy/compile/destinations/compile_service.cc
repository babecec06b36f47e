#include "proxy/compile/destinations/compile_service.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "proxy/base/text.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/hints.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

using ServiceSlices = std::vector<std::shared_ptr<const config::EndpointSlice>>;

constexpr std::size_t kMostNamed = 3;  // the most addresses that a note names

struct AppProtocol {
  std::string_view name;  // in lower case
  /// Automatic: ALPN chooses the version over TLS.
  routing::UpstreamProtocol spoken;
  bool needsTls = false;
};

/// Kubernetes' standard protocols (GEP-1911) and the service names that people write in their place.
constexpr AppProtocol kAppProtocols[] = {
    {"http", routing::UpstreamProtocol::kHttp11},
    {"ws", routing::UpstreamProtocol::kHttp11},
    {"kubernetes.io/ws", routing::UpstreamProtocol::kHttp11},
    {"h2c", routing::UpstreamProtocol::kHttp2},
    {"kubernetes.io/h2c", routing::UpstreamProtocol::kHttp2},
    {"http2", routing::UpstreamProtocol::kHttp2},
    {"grpc", routing::UpstreamProtocol::kHttp2},
    {"https", routing::UpstreamProtocol::kAuto, true},
    {"wss", routing::UpstreamProtocol::kHttp11, true},
    {"kubernetes.io/wss", routing::UpstreamProtocol::kHttp11, true},
};

/// Returns the version of HTTP that a port uses. The case of its appProtocol does not matter, because that of IANA's
/// service names does not (RFC 6335 section 5.1).
Resolved<routing::UpstreamProtocol> protocolOfPort(const config::ServicePort& port, bool overTls) {
  if (port.protocol != config::TransportProtocol::kTcp) {
    return fault(reason::kUnsupportedProtocol, "only ports of protocol TCP can carry HTTP");
  }
  if (port.appProtocol.empty()) return routing::UpstreamProtocol::kAuto;
  const auto* known = std::find_if(std::begin(kAppProtocols), std::end(kAppProtocols), [&](const AppProtocol& each) {
    return base::equalsIgnoringCase(each.name, port.appProtocol);
  });
  if (known == std::end(kAppProtocols)) {
    return fault(reason::kUnsupportedProtocol, "appProtocol " + port.appProtocol + " is not supported");
  }
  if (!known->needsTls || overTls) return known->spoken;
  return fault(reason::kUnsupportedProtocol,
               "appProtocol " + port.appProtocol + " needs TLS, which a BackendTLSPolicy for the Service gives it");
}

/// Collects the endpoints of one port: those that are used, and those that the address guard refuses.
class EndpointCollector {
 public:
  explicit EndpointCollector(const routing::AddressGuard& guard) : guard_(guard) {}

  void add(const config::EndpointSlice::SliceEndpoint& given, std::uint16_t port) {
    const std::string& address = given.address;
    std::array<std::uint8_t, 16> bytes{};
    const bool isV6 = ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1;
    if (!isV6 && ::inet_pton(AF_INET, address.c_str(), bytes.data()) != 1) return;
    hasReady_ = hasReady_ || !given.terminating;
    const routing::AddressBytes used(bytes.data(), isV6 ? 16 : 4);
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(isV6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size());
    if (guard_.permitsEndpoint(used)) {
      EndpointsByFamily& families = given.terminating ? terminating_ : ready_;
      (isV6 ? families.v6 : families.v4).try_emplace({text.data(), port}, &given.zones);
    } else {
      refused_.insert(std::string(text.data()) + " (" +
                      std::string(routing::addressClassName(routing::classify(used))) + ")");
    }
  }
  void addName() { hasNames_ = true; }

  /// Gives the plan the endpoints of one family, because a Pod with two addresses is one endpoint. Those that terminate
  /// serve if no other one is ready, as with kube-proxy (KEP-1669).
  void giveTo(routing::BackendPlan& plan, bool prefersIpv6) const {
    const EndpointsByFamily& used = hasReady_ ? ready_ : terminating_;
    const bool takesV6 = prefersIpv6 ? !used.v6.empty() : used.v4.empty();
    plan.endpoints.emplace();
    for (const auto& [endpoint, zones] : takesV6 ? used.v6 : used.v4) {
      plan.endpoints->push_back(endpoint);
      plan.zones.push_back(*zones);
    }
  }

  std::string note() const {
    std::string text;
    if (hasNames_) text = "EndpointSlices of addressType FQDN are not supported, and ignored";
    if (refused_.empty()) return text;
    text += text.empty() ? "" : "; ";
    text += "endpoints that addressGuard.allow does not name are not used: ";
    std::size_t named = 0;
    for (const std::string& address : refused_) {
      if (named == kMostNamed) return text + " and " + std::to_string(refused_.size() - named) + " more";
      text += (named++ == 0 ? "" : ", ") + address;
    }
    return text;
  }

 private:
  /// Several slices may have an endpoint, while it moves from one to another; its zones are those of the first one.
  using ZonesOfEndpoints = std::map<routing::Endpoint, const base::EndpointZones*>;
  struct EndpointsByFamily {
    ZonesOfEndpoints v4;
    ZonesOfEndpoints v6;
  };

  const routing::AddressGuard& guard_;
  EndpointsByFamily ready_;
  EndpointsByFamily terminating_;
  std::set<std::string> refused_;
  bool hasReady_ = false;  // also if the guard permits none of them
  bool hasNames_ = false;
};

/// Adds the endpoints of a slice. A slice has the port names of the Service and the port numbers of the endpoints.
void collect(const config::EndpointSlice& slice, const config::ServicePort& port, EndpointCollector& endpoints) {
  if (slice.addressType == config::AddressType::kFqdn) return endpoints.addName();
  for (const config::EndpointSlice::Port& each : slice.ports) {
    if (each.name != port.name || each.protocol != config::TransportProtocol::kTcp) continue;
    const std::uint16_t any = port.targetPort != 0 ? port.targetPort : port.number;
    for (const auto& endpoint : slice.endpoints) endpoints.add(endpoint, each.number != 0 ? each.number : any);
  }
}

/// Compiles the port with the TLS of a policy, or without.
CompiledServicePort compileServicePort(const config::Service& service, const config::ServicePort& port,
                                       const ServiceSlices& slices, const routing::AddressGuard& guard,
                                       std::optional<routing::UpstreamTls> tls) {
  CompiledServicePort entry;
  const Resolved<routing::UpstreamProtocol> protocol = protocolOfPort(port, tls.has_value());
  if (!protocol) {
    entry.fault = protocol.fault;
    return entry;
  }
  EndpointCollector endpoints(guard);
  for (const auto& slice : slices) collect(*slice, port, endpoints);
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = service.meta.qualifiedName();
  plan->object = objectOf(service.meta);
  plan->hostname = service.meta.name + "." + service.meta.nameSpace + ".svc";
  plan->port = port.number;
  plan->protocol = *protocol.value;
  endpoints.giveTo(*plan, service.prefersIpv6);
  plan->tls = std::move(tls);
  plan->authority = authorityOf(*plan);
  plan->identity = identityOf(*plan);
  plan->http11 = overHttp11(*plan);
  entry.note = endpoints.note();
  entry.plan = std::move(plan);
  return entry;
}

/// Compiles the port without TLS, unless that was done for the same objects.
const CompiledServicePort& cachedServicePort(const std::shared_ptr<const config::Service>& service, std::size_t index,
                                             const ServiceSlices& slices, const routing::AddressGuard& guard,
                                             BackendCache& cache) {
  return cache.services.get(
      std::pair(service.get(), index), [&](const CompiledServicePort& before) { return before.slices == slices; },
      [&] {
        CompiledServicePort made = compileServicePort(*service, service->ports[index], slices, guard, std::nullopt);
        made.service = service;
        made.slices = slices;
        return made;
      });
}

}  // namespace

ServiceCatalog::ServiceCatalog(const config::Model& model, const DestinationRules& rules, BackendCache& cache)
    : model_(model) {
  if (cache.allowed != model.settings.addressGuardAllow) {
    cache.services = {};
    cache.allowed = model.settings.addressGuardAllow;
  }
  std::map<Name, Slices> slices;
  for (const auto& slice : model.all<config::EndpointSlice>().shared()) {
    if (!slice->service.empty()) slices[{slice->meta.nameSpace, slice->service}].push_back(slice);
  }
  for (const auto& service : model.all<config::Service>().shared()) {
    addService(service, slices[{service->meta.nameSpace, service->meta.name}], rules, cache);
  }
}

void ServiceCatalog::addService(const std::shared_ptr<const config::Service>& service, const Slices& slices,
                                const DestinationRules& rules, BackendCache& cache) {
  CompiledService& entry = entries_[{service->meta.nameSpace, service->meta.name}];
  entry.service = service.get();
  if (service->isExternalName) return;
  for (std::size_t i = 0; i < service->ports.size(); ++i) {
    const config::ServicePort& port = service->ports[i];
    // The same port number may occur twice, with two protocols.
    if (port.protocol != config::TransportProtocol::kTcp && entry.ports.contains(port.number)) continue;
    std::optional<Resolved<routing::UpstreamTls>> tls = rules.tls.of(service->meta, {port.name, port.number});
    CompiledServicePort compiled;
    if (tls && !*tls) {
      compiled.fault = std::move(tls->fault);
    } else if (tls) {
      compiled = compileServicePort(*service, port, slices, rules.guard, *std::move(tls->value));
    } else {
      compiled = cachedServicePort(service, i, slices, rules.guard, cache);
    }
    if (compiled.plan) {
      const auto newest = sharedPlan(std::move(compiled.plan), cache);
      newest_.insert_or_assign(newest->identity, newest);
      compiled.plan = planOfRules(newest, cache);
    }
    if (!compiled.fault) compiled.fault = rules.closing.faultOf(service->meta, {port.name, port.number});
    entry.ports.insert_or_assign(
        port.number, ServicePortEntry{std::move(compiled.plan), std::move(compiled.fault), std::move(compiled.note)});
  }
}

std::shared_ptr<const routing::BackendPlan> ServiceCatalog::newest(
    const std::shared_ptr<const routing::BackendPlan>& plan) const {
  if (const auto found = newest_.find(plan->identity); found != newest_.end()) return found->second;
  const auto other =
      newest_.find(plan->countsAs);  // the original, if `plan` is a copy with another HTTP version or with settings
  return other == newest_.end() ? plan : withEndpoints(plan, *other->second);
}

const ServiceCatalog::ServicePortEntry* ServiceCatalog::find(const config::BackendObjectReference& ref,
                                                             std::string_view holder) const {
  const auto entry = entries_.find({targetNamespace(ref.object, holder), ref.object.name});
  if (entry == entries_.end()) return nullptr;
  const auto port = entry->second.ports.find(ref.port);
  return port == entry->second.ports.end() ? nullptr : &port->second;
}

Resolved<std::shared_ptr<const routing::BackendPlan>> ServiceCatalog::resolve(const config::BackendObjectReference& ref,
                                                                              const Holder& holder) const {
  const auto refused = [&](std::string_view why, const std::string& message) {
    return fault(why, ref.object.path, describe(ref.object, holder.nameSpace) + ": " + message);
  };
  const auto entry = entries_.find({targetNamespace(ref.object, holder.nameSpace), ref.object.name});
  if (entry == entries_.end()) return absenceFault(reason::kBackendNotFound, model_, ref.object, holder);
  if (entry->second.service->isExternalName) {
    return refused(reason::kInvalidKind, "Services of type ExternalName are not supported: use a Backend");
  }
  const ServicePortEntry* port = find(ref, holder.nameSpace);
  if (port == nullptr) {
    std::vector<std::uint16_t> ports;
    if (entry->first.first == holder.nameSpace) {
      for (const auto& each : entry->second.ports) ports.push_back(each.first);
    }
    Fault fault =
        refused(reason::kBackendNotFound, "it has no port " + std::to_string(ref.port) + availablePorts(ports));
    fault.summary = ref.port == 0;  // the schema requires a port
    return fault;
  }
  if (port->fault) {
    const Fault seen = toldBriefly(holder.nameSpace, targetNamespace(ref.object, holder.nameSpace), *port->fault);
    return refused(seen.reason, "port " + std::to_string(ref.port) + ": " + seen.text());
  }
  return port->plan;
}

config::Finding ServiceCatalog::note(const config::BackendObjectReference& ref, std::string_view holder) const {
  const ServicePortEntry* port = find(ref, holder);
  if (port == nullptr || port->note.empty()) return {};
  const bool isOwn = targetNamespace(ref.object, holder) == holder;
  return {ref.object.path,
          describe(ref.object, holder) + ": " + (isOwn ? port->note : "some of its endpoints are not used")};
}

}  // namespace sluice::compile
