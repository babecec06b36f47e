// One try to have a request served by a Backend: its share of the rule, and its own request to the Backend. A retry is
// a new attempt.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/base/settings.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/request.h"

namespace sluice::exchange {

struct Attempt {
  upstream::Request request;
  const routing::WeightedBackend* backend = nullptr;
  std::uint32_t number = 0;  // 1 for the first
  base::MonotonicTime begun{};
  base::MonotonicTime firstByte{};  // of the final head

  /// The address that it went to; empty if it never had a connection.
  std::string peer() const { return request.peer() != nullptr ? request.peer()->toString() : std::string(); }
};

/// What the gateway itself puts into requests.
struct Identity {
  /// "1.1 sluice-<instance>" (RFC 9110 section 7.6.3).
  std::string via;
  base::ForwardedSettings forwarded = {};
};

struct Client {
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
void applyRuleFilters(base::Arena& arena, http::RequestHead& head, const routing::Rule& rule, const Identity& identity,
                      const Client& client);

/// The request head as this Backend gets it: the Backend's authority (of a Service the client's), the rule's edits, as
/// far as they are pending, and its rewrite, those of the share, then what the gateway adds. Views are into the
/// exchange's arena, the rule and `identity`.
http::RequestHead attemptHead(base::Arena& arena, const http::RequestHead& request, const routing::Rule& rule,
                              const routing::WeightedBackend& backend, const Identity& identity, const Client& client,
                              RuleFilters filters = RuleFilters::kPending);

/// This gateway is in the Via list already: the request has gone in a circle.
bool passedHere(const http::Headers& headers, const Identity& identity);

}  // namespace sluice::exchange
