// Makes the head of a request as a Backend gets it: with the edits of the filters that apply, and the fields that the
// gateway adds. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/base/settings.h"
#include "proxy/exchange/forwarded.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// The values that the gateway itself puts into requests.
struct GatewayIdentity {
  /// "1.1 sluice-<instance>" (RFC 9110 section 7.6.3).
  std::string via;
  base::ForwardedSettings forwarded = {};
};

/// Says how far the fields of a request have come on their way through the filters of its rule.
enum class RuleFilters : std::uint8_t {
  kPending,  // none has been applied
  kApplied   // applyRuleFilters() has been called
};

/// Applies the edits that do not depend on the Backend: removes or replaces the client's forwarded fields, then applies
/// the rule's RequestHeaderModifier. Views are into what those of attemptHead() are into.
void applyRuleFilters(base::Arena& arena, http::RequestHead& head, const routing::Rule& rule,
                      const GatewayIdentity& identity, const ForwardedClient& client);

/// Returns the request head as this Backend gets it: with the Backend's authority (for a Service the client's), the
/// rule's edits, as far as they are pending, and its rewrite, those of the weighted backend, and at last the fields
/// that the gateway adds. Views are into the exchange's arena, the rule and `identity`.
http::RequestHead attemptHead(base::Arena& arena, const http::RequestHead& request, const routing::Rule& rule,
                              const routing::WeightedBackend& backend, const GatewayIdentity& identity,
                              const ForwardedClient& client, RuleFilters filters = RuleFilters::kPending);

/// Returns true if this gateway is in the Via list already, so that the request has gone in a circle.
bool passedHere(const http::Headers& headers, const GatewayIdentity& identity);

}  // namespace sluice::exchange
