#include "proxy/routing/backend_dial.h"

#include "proxy/routing/policy/egress/egress_dial.h"

namespace sluice::routing {

EgressFacts egressFacts(const BackendPlan& backend, base::AddressBytes client, const EgressHttp& sent,
                        const EgressHttp& leaving, bool forwardProxy) {
  const bool isTunnel = backend.protocol == UpstreamProtocol::kOpaque;
  EgressFacts facts;
  facts.way = isTunnel ? EgressWay::kConnect : forwardProxy ? EgressWay::kAbsolute : EgressWay::kReverse;
  facts.client = client;
  facts.name = dialledName(backend.hostname);
  facts.port = backend.port;
  facts.isStatic = backend.requestedOf == nullptr;
  if (isTunnel) {
    facts.tls = std::nullopt;
  } else {
    facts.tls = backend.tls.has_value();
    facts.isPlainTarget = !backend.tls;
  }
  facts.sent = sent;
  facts.leaving = leaving;
  return facts;
}

// Both would rewrite the path that was matched, not the result of the other, so only the more specific one applies.
std::string_view attemptTarget(base::Arena& arena, const http::RequestHead& request, const Rule& rule,
                               const WeightedBackend& backend) {
  const bool ofBackend = backend.rewrite.path != PathRewrite::kNone;
  return (ofBackend ? backend.rewrite : rule.rewrite).rewritten(arena, request.target);
}

EgressHttp leavingHttp(base::Arena& arena, const http::RequestHead& request, const Rule& rule,
                       const WeightedBackend& backend) {
  const std::string_view target = attemptTarget(arena, request, rule, backend);
  return {request.methodText, target.substr(0, target.find('?'))};
}

}  // namespace sluice::routing
