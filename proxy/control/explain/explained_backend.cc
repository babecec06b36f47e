#include "proxy/control/explain/explained_backend.h"

#include <algorithm>
#include <utility>

namespace sluice::control {
namespace {

std::string_view protocolInWords(const routing::BackendPlan& plan) {
  switch (plan.protocol) {
    case routing::UpstreamProtocol::kAuto:
      return plan.tls ? "HTTP/2 or HTTP/1.1, by ALPN" : "HTTP/1.1";
    case routing::UpstreamProtocol::kHttp11:
      return "HTTP/1.1";
    case routing::UpstreamProtocol::kHttp2:
      return plan.tls ? "HTTP/2" : "HTTP/2 without TLS";
    case routing::UpstreamProtocol::kOpaque:
      return "opaque";
  }
  return {};
}

ExplainedTls explainedTls(const routing::UpstreamTls& tls) {
  ExplainedTls result;
  result.mode = tls.clientCertificate != nullptr ? "Mutual" : "Terminate";
  result.serverName = tls.serverName;
  result.subjectAltNames = tls.subjectAltNames;
  result.verified = !tls.insecureSkipVerify;
  result.pins = tls.spkiPins.size();
  return result;
}

ExplainedAddress judged(const net::Address& address, bool permitted) {
  return {address.ip(), address.port(), std::string(routing::addressClassName(routing::classify(address.bytes()))),
          permitted, std::nullopt};
}

/// Returns the plan with the current endpoints.
const routing::BackendPlan& newest(const routing::Snapshot& snapshot, const routing::BackendPlan& plan) {
  const auto found = std::find_if(snapshot.backends.begin(), snapshot.backends.end(),
                                  [&](const auto& each) { return each->identity == plan.identity; });
  return found == snapshot.backends.end() ? plan : **found;
}

}  // namespace

ExplainedBackend explainedBackend(const http::RequestHead& request, const routing::WeightedBackend& backend,
                                  const routing::Snapshot& snapshot) {
  const routing::AddressGuard& guard = snapshot.addressGuard;
  ExplainedBackend result;
  result.weight = backend.weight;
  if (!backend.backend) return result;
  const auto* reached = routing::planFor(request, backend.backend);
  const routing::BackendPlan& plan = reached != nullptr ? **reached : *backend.backend;
  result.name = plan.name;
  result.object = plan.object;
  result.port = plan.port;
  result.protocol = protocolInWords(plan);
  if (plan.tls) result.tls = explainedTls(*plan.tls);
  result.sendsVia = plan.connection.sendsVia;
  if (plan.endpoints) {
    const routing::BackendPlan& current = newest(snapshot, plan);
    for (std::size_t i = 0; i < current.endpoints->size(); ++i) {
      const auto address = net::Address::parse((*current.endpoints)[i].ip, (*current.endpoints)[i].port);
      if (!address) continue;
      result.addresses.push_back(judged(*address, guard.permitsEndpoint(address->bytes())));
      result.addresses.back().zone = current.zones[i].zone;
    }
    return result;
  }
  result.hostname = plan.hostname;
  result.dns = plan.connection.dns;
  const auto literal = net::Address::parse(plan.hostname, plan.port);
  result.unresolved = !literal;
  if (literal) result.addresses.push_back(judged(*literal, guard.permits(literal->bytes())));
  return result;
}

void judgeBackend(std::shared_ptr<const QuestionedDial> dial, ExplainedBackend& backend) {
  backend.egress = dial->byName();
  for (ExplainedAddress& each : backend.addresses) {
    const auto address = net::Address::parse(each.ip, each.port);
    if (address) each.egress = dial->byAddress(*address);
  }
  backend.dial = std::move(dial);
}

void addResolved(ExplainedBackend& backend, const base::Result<net::Addresses>& resolved,
                 const routing::AddressGuard& guard) {
  backend.unresolved = false;
  if (!resolved) {
    backend.resolutionFailure = resolved.error().detail;
    return;
  }
  for (const net::Address& each : *resolved) {
    backend.addresses.push_back(judged(each.withPort(backend.port), guard.permits(each.bytes())));
    if (backend.dial) backend.addresses.back().egress = backend.dial->byAddress(each);
  }
}

}  // namespace sluice::control
