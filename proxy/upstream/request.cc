#include "proxy/upstream/request.h"

#include <utility>

#include "proxy/http/connection_auth.h"
#include "proxy/upstream/pins.h"

namespace sluice::upstream {

bool Request::enter(const std::shared_ptr<const routing::BackendPlan>& plan, net::ClientNetwork client, bool seeks) {
  Cluster& cluster = context_.cluster(plan);
  at_.place = cluster.enter(token_, client, seeks);
  at_.seat.open(client, seeks);
  if (at_.place != Place::kNone) {
    at_.cluster = &cluster;
    return true;
  }
  context_.onLimit(requestLimit(plan->connection.bounds));
  return false;
}

// A request that is sent again may fail before it has another connection.
base::Result<bool> Request::acquire(const Wishes& wishes) {
  at_.peer.reset();
  if (at_.place == Place::kSought) {
    if (!at_.cluster->places().take(token_)) return false;
    at_.place = Place::kHeld;
  }
  auto lease = at_.cluster->acquire(token_, wishes, &at_.seat);
  if (!lease.ok()) return lease.error();
  if (lease->empty()) return false;
  at_.connection = *lease;
  return true;
}

void Request::leaveEndpoint() {
  if (at_.seat.seeks()) at_.cluster->abandon(token_);
  at_.seat.leave(token_);
}

bool Request::backsUp() const {
  const Connection* leased = connection();
  return leased != nullptr && active() && leased->backsUp();
}

void Request::abandon() {
  at_.cluster->abandon(token_);
  giveBack();
}

// The connection goes back to its pool when it is flushed.
void Request::giveBack() {
  if (Connection* leased = connection()) leased->touch();
}

bool Request::claim() {
  const Connection* leased = connection();
  if (leased == nullptr || leased->available() == 0) return false;
  at_.reused = leased->requests() > 0;
  at_.peer = leased->peer();
  return true;
}

bool Request::begin(const http::RequestHead& head, http::Token client) {
  Connection& leased = *connection();
  if (http::authenticatesConnection(head.headers)) context_.pins().add(leased, client);
  at_.stream = leased.begin(token_, head);
  at_.begun = context_.worker().now();
  return at_.stream != 0;
}

Connection* Request::streaming() const {
  Connection* leased = connection();
  return leased != nullptr && leased->codec() != nullptr ? leased : nullptr;
}

void Request::wake() {
  Connection* leased = streaming();
  if (leased == nullptr) return;
  leased->codec()->wake(at_.stream);
  leased->touch();
}

void Request::grant(std::size_t count) {
  Connection* leased = streaming();
  if (leased == nullptr || !active()) return;
  leased->codec()->grant(at_.stream, count);
  leased->touch();
}

void Request::widen() {
  Connection* leased = streaming();
  if (leased != nullptr && active()) leased->codec()->widen(at_.stream);
}

void Request::cutShort() {
  Connection* leased = streaming();
  if (leased == nullptr) return;
  leased->codec()->reset(std::exchange(at_.stream, 0), http::ResetReason::kCancelled);
  leased->touch();
}

void Request::expire() {
  Connection* leased = active() ? streaming() : nullptr;
  cancel();
  if (leased != nullptr) leased->suspect();
}

void Request::pin(http::Token client) {
  if (Connection* leased = connection()) context_.pins().add(*leased, client);
}

base::MonotonicTime Request::deadline(base::Duration bound) const {
  return active() && bound != base::Duration::zero() ? at_.begun + bound : base::MonotonicTime::max();
}

void Request::avoidStale() {
  if (Connection* leased = connection()) leased->pool().onStale();
}

bool Request::lostConnection() const {
  Connection* leased = streaming();
  return leased == nullptr || leased->codec()->state() == http::CodecState::kClosed;
}

}  // namespace sluice::upstream
