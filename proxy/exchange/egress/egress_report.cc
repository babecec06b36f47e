#include "proxy/exchange/egress/egress_report.h"

namespace sluice::exchange {

routing::EgressFacts egressFacts(const routing::BackendPlan& backend, const net::Address& client,
                                 const routing::EgressHttp& sent, const routing::EgressHttp& leaving) {
  routing::EgressFacts facts;
  facts.client = client.bytes();
  facts.name = routing::dialledName(backend.hostname);
  facts.port = backend.port;
  facts.tls = backend.tls.has_value();
  facts.sent = sent;
  facts.leaving = leaving;
  return facts;
}

}  // namespace sluice::exchange
