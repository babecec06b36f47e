#include "proxy/exchange/egress/own_dial.h"

#include "proxy/routing/backend_dial.h"

namespace sluice::exchange {

using routing::EgressRuling;

bool OwnDial::admits(const routing::EgressHttp& sent, const http::RequestHead& leaving) {
  if (!coverage_.any()) return true;
  routing::EgressFacts facts =
      routing::egressFacts(backend_, client_.address.bytes(), sent, routing::egressHttp(leaving));
  facts.caller = client_.caller.get();
  facts.ignoresPathParameters = ignoresPathParameters_;
  dial_.emplace(coverage_.ofListener.get(), coverage_.ofRule.get(), facts);
  const EgressRuling ruling = dial_->judge();
  byAddress_ = ruling == EgressRuling::kUndecided;
  if (!byAddress_) reportEgress(*dial_, backend_, tell());
  if (ruling == EgressRuling::kDenied) return false;
  auditsByAddress_ = reportAudits(*dial_, {}, backend_, tell());
  return true;
}

bool OwnDial::admitsAgain(const http::RequestHead& leaving) {
  if (!dial_ || dial_->facts().leaving == routing::egressHttp(leaving)) return true;
  return admits(dial_->facts().sent, leaving);
}

bool OwnDial::narrow(net::Addresses& addresses) { return !byAddress_ || dial_->narrow(addresses); }

void OwnDial::end(const net::Address* peer) {
  if (byAddress_ && dial_->verdict().ruling != EgressRuling::kUndecided) reportEgress(*dial_, backend_, tell());
  if (auditsByAddress_ && peer != nullptr) reportAudits(*dial_, peer->bytes(), backend_, tell());
  byAddress_ = false;
  auditsByAddress_ = false;
}

}  // namespace sluice::exchange
