#include "proxy/exchange/client_account.h"

#include <algorithm>
#include <utility>

namespace sluice::exchange {

// The client's time runs only while bytes wait for it, so a quiet stream of events is bounded by streamIdle only.
inline void ClientAccount::watchClient() {
  const bool sends = t_.responseState == ResponseState::kStreaming || t_.responseState == ResponseState::kAnswering;
  if (t_.responseBody.bytes.empty() || !sends || t_.tunnels()) {
    owesSince_ = {};
  } else if (owesSince_ == base::MonotonicTime{} || t_.responseBytes - takenMark_ >= t_.context.limits().responseRate) {
    owesSince_ = t_.now();
    takenMark_ = t_.responseBytes;
  }
}

void ClientAccount::settle() {
  watchClient();
  const std::uint64_t request = heldOfRequest();
  const std::uint64_t response = heldOfResponse();
  if (request + response < ClientMemory::kUnit && units_ == 0 && !requestWide_ && !responseWide_) return;
  const BodyWindow& window = t_.context.bodyWindow();
  const bool more = requestWide_ && t_.requestBody.end() == http::PipeEnd::kOpen;
  const bool moreBack = responseWide_ && t_.responseBody.end() == http::PipeEnd::kOpen;
  const std::uint64_t bytes =
      std::max(request, more ? window.whole : 0) + std::max(response, moreBack ? window.whole : 0);
  const auto units = static_cast<std::uint32_t>(t_.finished() ? 0 : bytes / ClientMemory::kUnit);
  if (units == 0 && units_ == 0) return;
  Downstream* downstream = t_.downstream();
  if (downstream == nullptr) return;
  downstream->memory().charge(std::exchange(units_, units), units);

  const bool muchHeld = units != 0 && std::max(request, response) >= window.much();
  const std::string_view bound =
      muchHeld ? downstream->memory().reached(t_.context.limits().connectionMemory) : std::string_view();
  if (bound.empty()) {
    withheldSince_ = {};
  } else if (withheldSince_ == base::MonotonicTime{}) {
    withheldSince_ = t_.now();
    t_.context.onLimit(bound);
    t_.rearm = true;
  }
}

bool ClientAccount::withholds(std::uint64_t held) const {
  if (held < t_.context.bodyWindow().much()) return false;
  Downstream* downstream = t_.downstream();
  return downstream != nullptr && !downstream->memory().reached(t_.context.limits().connectionMemory).empty();
}

bool ClientAccount::earnsWholeWindow(std::uint64_t taken, std::uint64_t held) {
  const BodyWindow& window = t_.context.bodyWindow();
  if (taken < window.much() || window.first == window.whole) return false;
  settle();  // from here on the body is charged with `held`
  Downstream* downstream = t_.downstream();
  return downstream != nullptr && downstream->memory().hasRoomFor(window.whole - std::min(held, window.whole),
                                                                  t_.context.limits().connectionMemory);
}

bool ClientAccount::widensRequest() {
  if (requestWide_ || t_.requestBody.end() != http::PipeEnd::kOpen) return false;
  const http::RequestHead& head = t_.request.head;
  const std::uint64_t held = heldOfRequest();
  const bool small = head.body == http::Body::kLength && head.contentLength <= 2 * t_.context.bodyWindow().first;
  if (small || !earnsWholeWindow(t_.requestBytes - std::min(held, t_.requestBytes), held)) return false;
  requestWide_ = true;
  return true;
}

bool ClientAccount::widensResponse() {
  if (responseWide_ || t_.responseBody.end() != http::PipeEnd::kOpen || !t_.response) return false;
  const http::ResponseHead& head = t_.response->head;
  const bool small = head.contentLength && *head.contentLength <= 2 * t_.context.bodyWindow().first;
  if (small || !earnsWholeWindow(t_.responseBytes, heldOfResponse())) return false;
  responseWide_ = true;
  return true;
}

base::MonotonicTime ClientAccount::withheldDeadline() const {
  const bool withheld = withheldSince_ != base::MonotonicTime{};
  return withheld ? withheldSince_ + t_.context.timeouts().responseIdle : base::MonotonicTime::max();
}

base::MonotonicTime ClientAccount::takingDeadline() const {
  const bool owes = owesSince_ != base::MonotonicTime{} && t_.context.limits().responseRate > 0;
  return owes ? owesSince_ + t_.context.timeouts().responseIdle : base::MonotonicTime::max();
}

// The kernel takes bytes in large pieces, so a client that reads slowly and steadily may seem to take none. The bytes
// that its system has acknowledged since the last look distinguish the two. If windows of HTTP/2 keep the bytes back,
// there is no doubt.
bool ClientAccount::renewIfSocketMoves() {
  Downstream* downstream = t_.downstream();
  if (downstream == nullptr || downstream->codec().isHeldBack(t_.client.stream)) return false;
  const std::uint64_t acknowledged = downstream->acknowledged();
  const bool moved = !looked_ || acknowledged - acknowledgedMark_ >= t_.context.limits().responseRate;
  looked_ = true;
  acknowledgedMark_ = acknowledged;
  if (!moved) return false;
  owesSince_ = t_.now();
  takenMark_ = t_.responseBytes;
  return true;
}

}  // namespace sluice::exchange
