// The session that a request belongs to, by a rule that persists sessions (GEP-1619): read from what the client
// carries, and whether it is to carry something else from now on.
//
// Owned by the exchange; others have none. What is forged, too old, or not of this rule is no session, and never an
// error.
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

  /// Takes what carries sessions out of the request.
  void take(const pki::ValueSealer& sealer, base::WallTime now, http::RequestMessage& request);

  /// Where the session is; nullptr: nowhere, or nowhere any more.
  const routing::WeightedBackend* share() const { return share_; }
  /// Of that share, if it is a Service's; nullptr: whichever.
  const net::Address* endpoint() const { return !left_ && held_ && held_->endpoint ? &*held_->endpoint : nullptr; }
  /// The attempt there has failed: the session goes on wherever the next one leads.
  void leave() { left_ = true; }

  struct Renewal {
    std::string value;
    base::Duration age;  // of the session
  };
  /// The request was served by that share, at `endpoint` if it is a Service's: what the client is to carry; nullopt:
  /// what it does.
  std::optional<Renewal> renew(const pki::ValueSealer& sealer, base::WallTime now,
                               const routing::WeightedBackend& share,
                               const std::optional<net::Address>& endpoint) const;

 private:
  bool resume(const SessionValue& value, base::WallTime now);

  const routing::Rule& rule_;
  const routing::WeightedBackend* share_ = nullptr;
  std::optional<SessionValue> held_;  // that of share_
  bool outdated_ = false;             // it is sealed by the previous key
  bool left_ = false;
};

}  // namespace sluice::exchange
