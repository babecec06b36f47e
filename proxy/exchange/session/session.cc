#include "proxy/exchange/session/session.h"

#include <algorithm>

#include "proxy/exchange/session/session_carrier.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kSealedSize = pki::ValueSealer::sealedSize(SessionValue::kSize);

// Another replica's clock may be ahead of ours.
base::Duration ageOf(const SessionValue& value, base::WallTime now) {
  return std::max(now - value.begun, base::Duration::zero());
}

}  // namespace

void Session::take(const pki::ValueSealer& sealer, base::WallTime now, http::RequestMessage& request) {
  const routing::SessionPolicy& policy = *rule_.session;
  for (const std::string_view sealed : takeSessions(policy, kSealedSize, request)) {
    const auto opened = sealer.open(sealed, policy.scope);
    const auto value = opened ? SessionValue::parse(opened->value) : std::nullopt;
    if (!value || !resume(*value, now)) continue;
    outdated_ = opened->byPrevious;
    return;
  }
}

bool Session::resume(const SessionValue& value, base::WallTime now) {
  const routing::SessionPolicy& policy = *rule_.session;
  if (policy.absoluteTimeout && ageOf(value, now) >= *policy.absoluteTimeout) return false;
  const auto found = std::find(policy.shares.begin(), policy.shares.end(), value.share);
  if (found == policy.shares.end()) return false;
  const routing::WeightedBackend& backend = rule_.backends[static_cast<std::size_t>(found - policy.shares.begin())];
  if (backend.failure || backend.redirect) return false;
  weightedBackend_ = &backend;
  held_ = value;
  return true;
}

std::optional<Session::Renewal> Session::renew(const pki::ValueSealer& sealer, base::WallTime now,
                                               const routing::WeightedBackend& backend,
                                               const std::optional<net::Address>& endpoint) const {
  const routing::SessionPolicy& policy = *rule_.session;
  SessionValue value{now, policy.shares[static_cast<std::size_t>(&backend - rule_.backends.data())], endpoint};
  if (held_ && held_->share == value.share && held_->endpoint == value.endpoint) {
    if (!outdated_) return std::nullopt;
    value.begun = held_->begun;
  }
  std::optional<std::string> sealed = sealer.seal(value.toBytes(), policy.scope);
  if (!sealed) return std::nullopt;
  return Renewal{*std::move(sealed), ageOf(value, now)};
}

}  // namespace sluice::exchange
