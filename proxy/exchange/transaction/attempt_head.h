// Makes the head of a request as a Backend gets it: with the edits of the filters that apply, and the fields that the
// gateway adds. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/exchange/transaction/forwarded.h"
#include "proxy/exchange/transaction/request_id_field.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

/// The values that the gateway itself puts into requests.
class GatewayIdentity {
 public:
  /// The beginning of the pseudonym of every gateway.
  static constexpr std::string_view kPseudonyms = "sluice-";

  /// `pseudonym` names the gateway in Via: "sluice-<instance>" (RFC 9110 section 7.6.3).
  explicit GatewayIdentity(const std::string& pseudonym, base::ForwardedSettings forwardedFields = {},
                           base::RequestIdSettings requestIds = {})
      : forwarded(forwardedFields),
        requestId(std::move(requestIds)),
        pseudonym_(pseudonym),
        via10_("1.0 " + pseudonym),
        via11_("1.1 " + pseudonym),
        via2_("2 " + pseudonym) {}

  const std::string& pseudonym() const { return pseudonym_; }
  /// Returns the element of Via for a request that came in that version.
  const std::string& via(http::Version received) const {
    if (received == http::Version::kHttp2) return via2_;
    return received == http::Version::kHttp10 ? via10_ : via11_;
  }

  base::ForwardedSettings forwarded;
  RequestIdField requestId;

 private:
  std::string pseudonym_;
  std::string via10_;
  std::string via11_;
  std::string via2_;
};

/// Whether the filters of the rule have been applied to the fields of a request.
enum class RuleFilters : std::uint8_t {
  kPending,  // not yet
  kApplied   // all of them
};

/// Returns the request head as this Backend gets it: with the destination's authority (for a Service the client's), the
/// rule's edits, as far as they are pending, and its rewrite, those of the weighted backend, and at last the fields
/// that the gateway adds. Views are into the exchange's arena, the rule and `identity`.
http::RequestHead attemptHead(base::Arena& arena, const http::RequestHead& request, const routing::Rule& rule,
                              const routing::WeightedBackend& backend, const routing::BackendPlan& destination,
                              const GatewayIdentity& identity, const ForwardedClient& client,
                              RuleFilters filters = RuleFilters::kPending);

/// Adds the element of the gateway, by which it recognizes a request that comes back. A Backend that gets no Via has
/// all elements in Sluice-Via, also those of proxies before this one.
inline void addVia(base::Arena& arena, const routing::BackendPlan& destination, const GatewayIdentity& identity,
                   http::RequestHead& head) {
  http::FieldId field = http::FieldId::kVia;
  if (!destination.connection.sendsVia) {
    field = http::FieldId::kSluiceVia;
    head.headers.rename(http::FieldId::kVia, field);
  }
  head.headers.add(arena, field, identity.via(head.version));
}

}  // namespace sluice::exchange
