// The dial of a request that the gateway makes for an exchange: a mirror, or a processor's callout. The policies that
// cover the exchange judge it, with the exchange's client as its caller. Its owner keeps it in its place.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "proxy/base/terms/caller.h"
#include "proxy/exchange/egress/egress_report.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"

namespace sluice::exchange {

/// The client for which the gateway makes a request, as policies see it.
struct DialClient {
  net::Address address;
  std::shared_ptr<const base::Caller> caller;  // null if nothing is known of it
};

class OwnDial {
 public:
  /// `ignoresPathParameters` as in routing::EgressFacts.
  OwnDial(routing::EgressCoverage coverage, DialClient client, const routing::BackendPlan& backend,
          ExchangeObserver& observer, bool ignoresPathParameters = false)
      : coverage_(std::move(coverage)),
        client_(std::move(client)),
        backend_(backend),
        observer_(observer),
        ignoresPathParameters_(ignoresPathParameters) {}
  OwnDial(const OwnDial&) = delete;
  OwnDial& operator=(const OwnDial&) = delete;

  /// Judges the request by name. Returns false if it is denied. `sent` is as the client sent it; its views and those of
  /// `leaving` outlive this object.
  bool admits(const routing::EgressHttp& sent, const http::RequestHead& leaving);
  /// Judges it again if steps have changed the method or the path.
  bool admitsAgain(const http::RequestHead& leaving);
  /// Returns the dial if its addresses decide, else nullptr.
  routing::EgressDial* judged() { return byAddress_ ? &*dial_ : nullptr; }
  /// Drops the addresses that must not be dialled. Returns false if none is left.
  bool narrow(net::Addresses& addresses);
  /// Called when the request has ended, with the address that it went to; null if it had no connection.
  void end(const net::Address* peer);

 private:
  auto tell() {
    return [this](const DialReport& report) { observer_.onEgress(report); };
  }

  const routing::EgressCoverage coverage_;
  const DialClient client_;
  const routing::BackendPlan& backend_;
  ExchangeObserver& observer_;
  const bool ignoresPathParameters_;
  std::optional<routing::EgressDial> dial_;
  bool byAddress_ = false;        // the addresses decide, and have not been judged
  bool auditsByAddress_ = false;  // the same of a policy that is only audited
};

}  // namespace sluice::exchange
