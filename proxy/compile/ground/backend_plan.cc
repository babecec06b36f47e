#include "proxy/compile/ground/backend_plan.h"

#include <algorithm>
#include <utility>

#include "proxy/routing/dynamic_targets.h"

namespace sluice::compile {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

std::string_view protocolName(routing::UpstreamProtocol protocol) {
  switch (protocol) {
    case routing::UpstreamProtocol::kAuto:
      return "auto";
    case routing::UpstreamProtocol::kHttp11:
      return "http/1.1";
    case routing::UpstreamProtocol::kHttp2:
      return "h2";
    case routing::UpstreamProtocol::kOpaque:
      return "opaque";
  }
  return "";
}

std::string inBrackets(const std::string& hostname) {
  return hostname.find(':') != std::string::npos ? "[" + hostname + "]" : hostname;
}

std::string tlsIdentity(const routing::UpstreamTls& tls) {
  std::string text = "|sni=" + tls.serverName + "|san=";
  std::vector<std::string> names = tls.subjectAltNames;
  std::sort(names.begin(), names.end());
  // A URI may contain any of the other marks, but no line break.
  for (const std::string& name : names) text += name + "\n";
  text += "|ca=" + (tls.trust ? tls.trust->fingerprint() : std::string());
  text += "|client=" + (tls.clientCertificate ? tls.clientCertificate->fingerprint() : std::string());
  text += "|pins=";
  std::vector<std::string> pins = tls.spkiPins;
  std::sort(pins.begin(), pins.end());
  for (const std::string& pin : pins) text += pin + ",";
  text += "|min=" + tls.minVersion + "|suites=" + tls.cipherSuites;
  text += tls.insecureSkipVerify ? "|verify=none" : "|verify=full";
  return text;
}

std::string boundsText(std::string_view mark, const base::CircuitBreakerBounds& bounds) {
  if (!bounds.any()) return "";
  const auto number = [](const std::optional<std::uint32_t>& bound) { return bound ? std::to_string(*bound) : "-"; };
  return "|" + std::string(mark) + "=" + number(bounds.connections) + "," + number(bounds.pendingRequests) + "," +
         number(bounds.requests);
}

/// Returns a text that distinguishes the bounds of policies; empty without bounds.
std::string boundsIdentity(const routing::ConnectionSettings& settings) {
  return boundsText("most", settings.bounds) + boundsText("each", settings.perEndpoint) +
         (settings.highPriority ? "|priority=high" : "");
}

/// Returns a text that distinguishes the ways of load balancing; empty for the usual one.
std::string balancingIdentity(const base::LoadBalancing& terms) {
  if (terms == base::LoadBalancing()) return "";
  std::string text = "|balancer=" + std::to_string(static_cast<int>(terms.type)) + "," +
                     std::to_string(static_cast<int>(terms.source)) + "," + std::to_string(terms.tableSize) + "," +
                     std::to_string(terms.slowStart.count()) + "," + std::to_string(terms.panicThreshold);
  if (terms.prefersZone) {
    text += ",zone=" + std::to_string(terms.minEndpointsInZone) + "/" + std::to_string(terms.minEndpoints);
  }
  // Users choose the names, so their lengths come before them.
  const auto add = [&text](const std::string& part) { text += "," + std::to_string(part.size()) + ":" + part; };
  for (const std::string& name : terms.names) add(name);
  if (terms.source == base::HashSource::kCookie) {
    add(std::to_string(terms.cookieTtl.count()));
    add(terms.cookiePath);
  }
  return text;
}

/// Returns a text that distinguishes connections by the settings of policies; empty without settings.
std::string settingsIdentity(const routing::ConnectionSettings& settings) {
  if (settings == routing::ConnectionSettings()) return "";
  const auto number = [](const std::optional<base::Duration>& time) {
    return time ? std::to_string(time->count()) : std::string("-");
  };
  std::string text = "|connect=" + number(settings.connectTimeout) + "|idle=" + number(settings.idleTimeout) +
                     "|lifetime=" + number(settings.lifetime);
  if (const auto& keepalive = settings.keepalive) {
    text += "|keepalive=" + std::to_string(keepalive->probes) + "," + number(keepalive->idleTime) + "," +
            number(keepalive->interval);
  }
  if (settings.dns != base::DnsTerms()) {
    text += "|family=" + std::to_string(static_cast<int>(settings.dns.family)) +
            (settings.dns.respectTtl ? "" : "|ttl=none") + "|refresh=" + number(settings.dns.refreshRate);
  }
  if (settings.logicalDns) text += "|dns=logical";
  if (!settings.sendsVia) text += "|via=off";
  if (settings.requestsPerConnection > 0) text += "|requests=" + std::to_string(settings.requestsPerConnection);
  return text + balancingIdentity(settings.balancing) + boundsIdentity(settings);
}

/// Requests connect to none of these plans, but the names that it allows distinguish it, too.
std::string dynamicIdentity(const routing::BackendPlan& plan) {
  std::string text = plan.object + "|dynamic";
  for (const std::string& hostname : plan.dynamic->hostnames) text += "|" + hostname;
  for (const auto& port : plan.dynamic->ports) text += "|port=" + port->identity.text();
  return text;
}

/// Returns the plan with these settings, and with `change` of each of its ports; null if one of these is null.
template <typename Change>
std::shared_ptr<const routing::BackendPlan> withEachPort(const routing::BackendPlan& plan,
                                                         const routing::ConnectionSettings& settings, Change&& change) {
  routing::DynamicTargets targets = *plan.dynamic;
  for (auto& port : targets.ports) {
    port = change(port);
    if (port == nullptr) return nullptr;
  }
  auto result = std::make_shared<routing::BackendPlan>(plan);
  result->connection = settings;
  result->dynamic = std::make_shared<const routing::DynamicTargets>(std::move(targets));
  result->identity = identityOf(*result);
  return result;
}

}  // namespace

std::vector<const config::BackendPort*> portsOf(const config::Backend& backend, std::uint16_t port) {
  std::vector<const config::BackendPort*> meant;
  if (const config::BackendPort* only = backend.findPort(port)) meant.push_back(only);
  if (!(backend.hasEndpoints || backend.dynamic) || port != 0 || !meant.empty()) return meant;
  for (const config::BackendPort& each : backend.ports) meant.push_back(&each);
  std::stable_sort(meant.begin(), meant.end(), [](const auto* a, const auto* b) { return a->priority < b->priority; });
  return meant;
}

const std::string& hostnameOf(const config::Backend& backend, const config::BackendPort& port) {
  return port.hostname.empty() ? backend.hostname : port.hostname;
}

const std::optional<config::BackendTls>& tlsOf(const config::Backend& backend, const config::BackendPort& port) {
  return port.tls ? port.tls : backend.tls;
}

std::string hostAndPort(const std::string& hostname, std::uint16_t port) {
  return inBrackets(hostname) + ":" + std::to_string(port);
}

std::string authorityOf(const routing::BackendPlan& plan) {
  const std::uint16_t usual = plan.tls ? kHttpsPort : kHttpPort;
  return plan.port == usual ? inBrackets(plan.hostname) : hostAndPort(plan.hostname, plan.port);
}

std::string objectOf(const config::ObjectMeta& meta) {
  const std::string group = meta.group.empty() ? "" : "." + std::string(meta.group);
  return std::string(meta.kind) + group + "/" + meta.qualifiedName();
}

bool exposes(const routing::BackendPlan& backend) { return !backend.tls && !backend.endpoints; }

bool isExposed(const routing::WeightedBackend& weighted) { return weighted.backend && exposes(*weighted.backend); }

std::string identityOf(const routing::BackendPlan& plan) {
  if (plan.dynamic != nullptr) return dynamicIdentity(plan);
  return plan.object + "|" + plan.hostname + "|" + std::to_string(plan.port) + "|" +
         std::string(protocolName(plan.protocol)) + (plan.tls ? tlsIdentity(*plan.tls) : "|plain") +
         settingsIdentity(plan.connection);
}

std::shared_ptr<const routing::BackendPlan> withEndpoints(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                          const routing::BackendPlan& other) {
  if (plan->endpoints == other.endpoints && plan->zones == other.zones) return plan;
  auto copy = std::make_shared<routing::BackendPlan>(*plan);
  copy->endpoints = other.endpoints;
  copy->zones = other.zones;
  return copy;
}

std::shared_ptr<const routing::BackendPlan> overHttp11(const routing::BackendPlan& plan) {
  if (plan.protocol != routing::UpstreamProtocol::kAuto || !plan.tls) return nullptr;
  auto result = std::make_shared<routing::BackendPlan>(plan);
  result->countsAs = plan.countedAs();
  result->protocol = routing::UpstreamProtocol::kHttp11;
  result->identity = identityOf(*result);
  return result;
}

std::shared_ptr<const routing::BackendPlan> asStream(const routing::BackendPlan& plan) {
  auto result = std::make_shared<routing::BackendPlan>(plan);
  result->countsAs = plan.countedAs();
  result->protocol = routing::UpstreamProtocol::kOpaque;
  result->tls.reset();
  result->http11 = nullptr;
  result->identity = identityOf(*result);
  return result;
}

std::shared_ptr<const routing::BackendPlan> governedPlan(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                         const routing::ConnectionSettings& settings) {
  if (plan->connection == settings) return plan;
  if (plan->dynamic != nullptr) {
    return withEachPort(*plan, settings, [&](const auto& port) { return governedPlan(port, settings); });
  }
  auto result = std::make_shared<routing::BackendPlan>(*plan);
  result->countsAs = plan->countedAs();
  result->connection = settings;
  result->boundsOf = {};
  if (settings.bound()) result->boundsOf = plan->countedAs().text() + boundsIdentity(settings);
  result->identity = identityOf(*result);
  if (plan->http11 != nullptr) result->http11 = governedPlan(plan->http11, settings);
  if (plan->stream != nullptr) result->stream = governedPlan(plan->stream, settings);
  return result;
}

std::shared_ptr<const routing::BackendPlan> dynamicPlan(
    routing::PolicyNeed need, std::vector<std::string> hostnames,
    const std::vector<std::shared_ptr<const routing::BackendPlan>>& ports) {
  auto plan = std::make_shared<routing::BackendPlan>(*ports.front());
  if (std::any_of(ports.begin(), ports.end(), [](const auto& port) { return !port->tls; })) plan->tls.reset();
  plan->http11 = nullptr;
  plan->stream = nullptr;
  plan->dynamic = std::make_shared<const routing::DynamicTargets>(need, std::move(hostnames), ports);
  plan->identity = identityOf(*plan);
  return plan;
}

std::shared_ptr<const routing::BackendPlan> directPlan(const std::shared_ptr<const pki::TrustStore>& authorities) {
  const auto port = [&](bool secure) {
    auto plan = std::make_shared<routing::BackendPlan>();
    if (secure) plan->tls.emplace().trust = authorities;
    plan->identity = identityOf(*plan);
    plan->http11 = overHttp11(*plan);
    plan->stream = asStream(*plan);
    return plan;
  };
  return dynamicPlan(routing::PolicyNeed::kEnforced, {}, {port(false), port(true)});
}

std::shared_ptr<const routing::BackendPlan> overHttp2(std::shared_ptr<const routing::BackendPlan> plan) {
  if (plan->dynamic != nullptr) {
    return withEachPort(*plan, plan->connection, [](const auto& port) { return overHttp2(port); });
  }
  switch (plan->protocol) {
    case routing::UpstreamProtocol::kHttp2:
      return plan;
    case routing::UpstreamProtocol::kHttp11:
    case routing::UpstreamProtocol::kOpaque:
      return nullptr;
    case routing::UpstreamProtocol::kAuto:
      break;
  }
  auto copy = std::make_shared<routing::BackendPlan>(*plan);
  copy->countsAs = plan->identity;
  copy->protocol = routing::UpstreamProtocol::kHttp2;
  copy->identity = identityOf(*copy);
  return copy;
}

}  // namespace sluice::compile
