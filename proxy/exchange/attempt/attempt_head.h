// The head of a request as a Backend gets it: with the edits of the filters that apply, and with what the gateway adds.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/base/settings.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// What the gateway itself puts into requests.
struct GatewayIdentity {
  /// "1.1 sluice-<instance>" (RFC 9110 section 7.6.3).
  std::string via;
  base::ForwardedSettings forwarded = {};
};

/// The client as backends are told of it.
struct ForwardedClient {
  const net::Address& address;
  bool secure;
};

/// This says how far the fields of a request have come on their way through the filters of its rule.
enum class RuleFilters : std::uint8_t {
  kPending,  // they are as they were before
  kApplied   // applyRuleFilters() has been called
};

/// What the gateway and the rule do to the fields of a request, whatever Backend it goes to: the client's word about
/// its way here goes or is replaced, then the rule's RequestHeaderModifier applies. Views are the same as in
/// attemptHead().
void applyRuleFilters(base::Arena& arena, http::RequestHead& head, const routing::Rule& rule,
                      const GatewayIdentity& identity, const ForwardedClient& client);

/// The request head as this Backend gets it: the Backend's authority (of a Service the client's), the rule's edits, as
/// far as they are pending, and its rewrite, those of the share, then what the gateway adds. Views are into the
/// exchange's arena, the rule and `identity`.
http::RequestHead attemptHead(base::Arena& arena, const http::RequestHead& request, const routing::Rule& rule,
                              const routing::WeightedBackend& backend, const GatewayIdentity& identity,
                              const ForwardedClient& client, RuleFilters filters = RuleFilters::kPending);

/// This gateway is in the Via list already: the request has gone in a circle.
bool passedHere(const http::Headers& headers, const GatewayIdentity& identity);

}  // namespace sluice::exchange
