// The session that a request belongs to, if its rule persists sessions (GEP-1619). It is read from the cookie or field
// of the client, and decides whether the client must send another one from now on.
//
// The exchange owns it; exchanges of other rules have none. A value that is forged, too old, or not of this rule is no
// session, and never an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/exchange/session/session_value.h"
#include "proxy/http/message.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Session {
 public:
  /// `rule` persists sessions, and outlives it.
  explicit Session(const routing::Rule& rule) : rule_(rule) {}

  /// Takes the values of sessions out of the request, and resumes the first valid one.
  void take(const pki::ValueSealer& sealer, base::WallTime now, http::RequestMessage& request);

  /// Returns the weighted backend that the session is bound to; nullptr if there is none, or none any more.
  const routing::WeightedBackend* weightedBackend() const { return weightedBackend_; }
  /// Returns the endpoint that the session is bound to, if its backend is a Service; nullptr if any endpoint will do.
  const net::Address* endpoint() const { return !left_ && held_ && held_->endpoint ? &*held_->endpoint : nullptr; }
  /// Called when the attempt at that place has failed. The session then moves to the endpoint of the next attempt.
  void leave() { left_ = true; }

  struct Renewal {
    std::string value;
    base::Duration age;  // that of the session
  };
  /// Called when the request was served by that weighted backend, at `endpoint` if it is a Service. Returns the value
  /// that the client must send from now on; nullopt if it sends that already.
  std::optional<Renewal> renew(const pki::ValueSealer& sealer, base::WallTime now,
                               const routing::WeightedBackend& backend,
                               const std::optional<net::Address>& endpoint) const;

 private:
  bool resume(const SessionValue& value, base::WallTime now);

  const routing::Rule& rule_;
  const routing::WeightedBackend* weightedBackend_ = nullptr;
  std::optional<SessionValue> held_;  // the value that led to weightedBackend_
  bool outdated_ = false;             // that value is sealed by the previous key
  bool left_ = false;
};

}  // namespace sluice::exchange
