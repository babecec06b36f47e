// Charges what an exchange takes of its client's memory, and watches how fast the client takes what waits for it.
#include <algorithm>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"

namespace sluice::exchange {

std::uint64_t Exchange::heldOfRequest() const {
  return requestBody_.bytes.size() + (steps_ ? steps_->heldOfRequest() : 0);
}

std::uint64_t Exchange::heldOfResponse() const {
  return responseBody_.bytes.size() + (steps_ ? steps_->heldOfResponse() : 0);
}

// Time counts against the client only while bytes wait for it, so a quiet stream of events lives as long as streamIdle
// lets it.
inline void Exchange::watchClient() {
  const bool sends = responseState_ == ResponseState::kStreaming || responseState_ == ResponseState::kAnswering;
  if (responseBody_.bytes.empty() || !sends || tunnels()) {
    clientOwesSince_ = {};
  } else if (clientOwesSince_ == base::MonotonicTime{} || responseBytes_ - takenMark_ >= owner_.limits().responseRate) {
    clientOwesSince_ = owner_.worker().now();
    takenMark_ = responseBytes_;
  }
}

// Called whenever the exchange comes to rest.
void Exchange::settleAccounts() {
  watchClient();
  const bool little = requestBody_.bytes.size() + responseBody_.bytes.size() < ClientMemory::kUnit;
  if (little && chargedUnits_ == 0 && !requestWide_ && !responseWide_ && !steps_) return;
  const BodyWindow& window = owner_.bodyWindow();
  const std::uint64_t request = heldOfRequest();
  const std::uint64_t response = heldOfResponse();
  const bool more = requestWide_ && requestBody_.end() == http::PipeEnd::kOpen;
  const bool moreBack = responseWide_ && responseBody_.end() == http::PipeEnd::kOpen;
  const std::uint64_t bytes =
      std::max(request, more ? window.whole : 0) + std::max(response, moreBack ? window.whole : 0);
  const auto units = static_cast<std::uint32_t>(finished() ? 0 : bytes / ClientMemory::kUnit);
  if (units == 0 && chargedUnits_ == 0) return;
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr) return;
  downstream->memory().charge(std::exchange(chargedUnits_, units), units);

  const bool muchHeld = units != 0 && std::max(request, response) >= window.much();
  const std::string_view bound =
      muchHeld ? downstream->memory().reached(owner_.limits().connectionMemory) : std::string_view();
  if (bound.empty()) {
    withheldSince_ = {};
  } else if (withheldSince_ == base::MonotonicTime{}) {
    withheldSince_ = owner_.worker().now();
    owner_.onLimit(bound);
    arm();
  }
}

/// A bound of its client's memory is reached, and a body that holds so much gets no credit for now.
bool Exchange::withholds(std::uint64_t held) {
  if (held < owner_.bodyWindow().much()) return false;
  Downstream* downstream = owner_.downstream(origin_.connection);
  return downstream != nullptr && !downstream->memory().reached(owner_.limits().connectionMemory).empty();
}

/// The consumer of a body has taken enough of it to have the whole window, and there is room for that.
bool Exchange::earnsWholeWindow(std::uint64_t taken, std::uint64_t held) {
  const BodyWindow& window = owner_.bodyWindow();
  if (taken < window.much() || window.first == window.whole) return false;
  settleAccounts();  // so that `held` is what the body is charged with
  Downstream* downstream = owner_.downstream(origin_.connection);
  return downstream != nullptr &&
         downstream->memory().hasRoomFor(window.whole - std::min(held, window.whole), owner_.limits().connectionMemory);
}

void Exchange::widenRequest(http::ServerCodec& codec) {
  if (requestWide_ || requestBody_.end() != http::PipeEnd::kOpen) return;
  const std::uint64_t held = heldOfRequest();
  const bool small =
      request_.head.body == http::Body::kLength && request_.head.contentLength <= 2 * owner_.bodyWindow().first;
  if (small || !earnsWholeWindow(requestBytes_ - std::min(held, requestBytes_), held)) return;
  requestWide_ = true;
  codec.widen(origin_.stream);
}

void Exchange::widenResponse() {
  if (responseWide_ || responseBody_.end() != http::PipeEnd::kOpen || !response_) return;
  const bool small = response_->head.contentLength && *response_->head.contentLength <= 2 * owner_.bodyWindow().first;
  if (small || !earnsWholeWindow(responseBytes_, heldOfResponse())) return;
  responseWide_ = true;
  attempt_.request.widen();
}

// --- the least rate -----------------------------------------------------------------------------------------

base::MonotonicTime Exchange::takingDeadline() const {
  const bool owes = clientOwesSince_ != base::MonotonicTime{} && owner_.limits().responseRate > 0;
  return owes ? clientOwesSince_ + owner_.timeouts().responseIdle : base::MonotonicTime::max();
}

// The kernel takes bytes in large pieces, so a client that reads slowly and steadily may seem to take none. What its
// system has acknowledged since the last look tells the two apart. If windows of HTTP/2 keep the bytes back, there is
// no doubt.
bool Exchange::socketMoves() {
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr || downstream->codec().isHeldBack(origin_.stream)) return false;
  const std::uint64_t acknowledged = downstream->acknowledged();
  const bool moved = !looked_ || acknowledged - acknowledgedMark_ >= owner_.limits().responseRate;
  looked_ = true;
  acknowledgedMark_ = acknowledged;
  return moved;
}

/// Returns true if a deadline of this file has passed, and was dealt with.
bool Exchange::expireForMemory(base::MonotonicTime now) {
  if (withheldSince_ != base::MonotonicTime{} && withheldSince_ + owner_.timeouts().responseIdle <= now) {
    raise(Event::kDeadline, {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                             "too much waits for this client, or for what it sends to be taken"});
    return true;
  }
  if (takingDeadline() > now) return false;
  if (socketMoves()) {
    progress();
    clientOwesSince_ = now;
    takenMark_ = responseBytes_;
    arm();
    return true;
  }
  owner_.onLimit("responseIdle");
  raise(Event::kDeadline, {base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream,
                           "the client did not take the response in time"});
  return true;
}

}  // namespace sluice::exchange
