#include "proxy/compile/ground/backend_plan.h"

#include <algorithm>

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

/// Returns a text that distinguishes the bounds of policies; empty without bounds.
std::string boundsIdentity(const base::CircuitBreakerBounds& bounds) {
  if (!bounds.any()) return "";
  const auto number = [](const std::optional<std::uint32_t>& bound) { return bound ? std::to_string(*bound) : "-"; };
  return "|most=" + number(bounds.connections) + "," + number(bounds.pendingRequests) + "," + number(bounds.requests);
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
  if (settings.requestsPerConnection > 0) text += "|requests=" + std::to_string(settings.requestsPerConnection);
  return text + boundsIdentity(settings.bounds);
}

}  // namespace

std::vector<const config::BackendPort*> portsOf(const config::Backend& backend, std::uint16_t port) {
  std::vector<const config::BackendPort*> meant;
  if (const config::BackendPort* only = backend.findPort(port)) meant.push_back(only);
  if (!backend.hasEndpoints || port != 0) return meant;
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
  return plan.object + "|" + plan.hostname + "|" + std::to_string(plan.port) + "|" +
         std::string(protocolName(plan.protocol)) + (plan.tls ? tlsIdentity(*plan.tls) : "|plain") +
         settingsIdentity(plan.connection);
}

std::shared_ptr<const routing::BackendPlan> withEndpoints(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                          const routing::BackendPlan& other) {
  if (plan->endpoints == other.endpoints) return plan;
  auto copy = std::make_shared<routing::BackendPlan>(*plan);
  copy->endpoints = other.endpoints;
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

std::shared_ptr<const routing::BackendPlan> governedPlan(const std::shared_ptr<const routing::BackendPlan>& plan,
                                                         const routing::ConnectionSettings& settings) {
  if (plan->connection == settings) return plan;
  auto result = std::make_shared<routing::BackendPlan>(*plan);
  result->countsAs = plan->countedAs();
  result->connection = settings;
  result->boundsOf = {};
  if (settings.bounds.any()) result->boundsOf = plan->countedAs().text() + boundsIdentity(settings.bounds);
  result->identity = identityOf(*result);
  if (plan->http11 != nullptr) result->http11 = governedPlan(plan->http11, settings);
  return result;
}

std::shared_ptr<const routing::BackendPlan> overHttp2(std::shared_ptr<const routing::BackendPlan> plan) {
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
