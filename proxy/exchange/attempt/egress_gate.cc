#include "proxy/exchange/attempt/egress_gate.h"

#include "proxy/exchange/attempt/requested_destination.h"
#include "proxy/routing/backend_dial.h"
#include "proxy/routing/rule_reply.h"

namespace sluice::exchange {

using routing::EgressHttp;
using routing::EgressRuling;

/// Returns nullptr if the exchange goes to no Backend.
const routing::BackendPlan* EgressGate::backend() const {
  const routing::WeightedBackend* const weighted = attempts_.backend();
  return weighted != nullptr ? attempts_.current().destination().get() : nullptr;
}

EgressRuling EgressGate::judge(const EgressHttp& leaving) {
  const MatchedRoute& route = t_.route;
  const http::RequestHead& sent = t_.asked != nullptr ? *t_.asked : t_.request.head;
  routing::EgressFacts facts = routing::egressFacts(*backend(), t_.client.address.bytes(), routing::egressHttp(sent),
                                                    leaving, t_.client.forwardProxy);
  facts.caller = t_.caller.get();
  facts.ignoresPathParameters = route.listener != nullptr && route.listener->matching.ignorePathParameters;
  const routing::EgressDial dial(route.listener != nullptr ? route.listener->egress.get() : nullptr,
                                 route.rule->egress.get(), facts);
  if (t_.egress == nullptr) {
    t_.egress = t_.request.arena.make<EgressState>(dial);
  } else {
    t_.egress->dial = dial;
  }
  const EgressRuling ruling = t_.egress->dial.judge();
  t_.egress->byAddress = ruling == EgressRuling::kUndecided;
  return ruling;
}

/// Returns the request as the filters will leave it.
EgressHttp EgressGate::leavingAttempt() const {
  return routing::leavingHttp(t_.request.arena, t_.request.head, *t_.route.rule, *attempts_.backend());
}

void EgressGate::reportVerdict() {
  t_.egress->reported = true;
  reportEgress(t_.egress->dial, *backend(), [this](const DialReport& each) { note(each); });
}

bool EgressGate::admitAttempt() {
  while (backend() != nullptr) {
    const EgressRuling ruling = judge(leavingAttempt());
    t_.egress->reported = false;
    if (ruling != EgressRuling::kDenied) return true;
    reportVerdict();
    if (!passOver()) return false;
  }
  return true;
}

bool EgressGate::admitTentative() {
  if (backend() == nullptr || mayPassOver()) return true;
  // Such a Backend is not dialled.
  if (routing::repliesLocally(t_.request.head, *attempts_.backend())) return true;
  if (judge(leavingAttempt()) != EgressRuling::kDenied) return true;
  reportVerdict();
  return false;
}

bool EgressGate::admitAgain(const http::RequestHead& leaving) {
  const EgressHttp now = routing::egressHttp(leaving);
  if (t_.egress->dial.facts().leaving == now) return true;
  if (judge(now) != EgressRuling::kDenied) return true;
  reportVerdict();
  return false;
}

void EgressGate::report() {
  EgressState& state = *t_.egress;
  if (state.reported) return;
  if (!state.byAddress) reportVerdict();
  state.auditsByAddress = reportAudits(state.dial, {}, *backend(), [this](const DialReport& each) { note(each); });
}

routing::EgressDial* EgressGate::dial() const { return t_.egress->byAddress ? &t_.egress->dial : nullptr; }

bool EgressGate::narrow(net::Addresses& addresses) {
  t_.egress->dial.narrow(addresses);
  return reportAddresses();
}

bool EgressGate::reportAddresses() {
  EgressState& state = *t_.egress;
  const EgressRuling ruling = state.dial.verdict().ruling;
  if (ruling != EgressRuling::kUndecided && !state.reported) reportVerdict();
  return ruling != EgressRuling::kDenied;
}

bool EgressGate::admitSent(const http::RequestHead* leaving) {
  EgressState& state = *t_.egress;
  if (t_.streamTunnel != nullptr) return true;  // its first bytes are judged
  const base::AddressBytes peer = attempts_.current().request.peer()->bytes();
  if (leaving != nullptr) {
    const EgressHttp before = state.dial.facts().leaving;
    if (!admitAgain(*leaving)) return false;
    const bool judgedAnew = state.dial.facts().leaving != before;
    if (judgedAnew && state.byAddress && !state.dial.permits(peer)) {
      reportVerdict();
      return false;
    }
  }
  if (state.auditsByAddress) {
    state.auditsByAddress = false;
    reportAudits(state.dial, peer, *backend(), [this](const DialReport& each) { note(each); });
  }
  return true;
}

bool EgressGate::admitFirstBytes() {
  EgressState& state = *t_.egress;
  const http::FirstFlight& first = t_.streamTunnel->first;
  const base::AddressBytes peer = attempts_.current().request.peer()->bytes();
  const bool isTls = first.protocol() == http::StreamProtocol::kTls;
  const bool admitted = !state.byAddress || state.dial.permitsFirstBytes(isTls, first.serverName(), peer);
  if (!state.reported) reportVerdict();
  if (state.auditsByAddress) {
    state.auditsByAddress = false;
    reportAudits(state.dial, peer, *backend(), [this](const DialReport& each) { note(each); });
  }
  return admitted;
}

/// Returns whether another Backend could take the place of the current one: the rule fails over, or this is a retry.
bool EgressGate::mayPassOver() const { return t_.route.rule->failover != nullptr || attempts_.current().number > 0; }

bool EgressGate::passOver() {
  while (mayPassOver() && attempts_.passOver(t_.egress->denied)) {
    if (!findDestination(t_, attempts_.current())) return true;
  }
  return false;
}

}  // namespace sluice::exchange
