#include "proxy/http/h2/h2_intake.h"

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace sluice::http {

H2Intake::H2Intake(H2Connection& connection, H2Receiver& receiver, HeadAccount* account)
    : connection_(connection),
      receiver_(receiver),
      walk_(connection.side == H2Side::kServer ? std::size_t{NGHTTP2_CLIENT_MAGIC_LEN} : 0),
      kept_(connection.pool),
      charge_(account) {}

void H2Intake::take(std::string_view bytes) {
  if (pauses_) {
    if (mayKeep(kept_.size() + bytes.size())) kept_.append(bytes);
    return;
  }
  receiver_.beginTurn();
  bytes.remove_prefix(handOn(bytes));
  if (pauses_) kept_.append(bytes);
}

bool H2Intake::mayKeep(std::size_t count) {
  const std::optional<Limit> reached = charge_.reach(count);
  if (!reached) return true;
  connection_.events.limitHit(*reached);
  connection_.end(H2ErrorCode::kEnhanceYourCalm);
  return false;
}

void H2Intake::goOn() {
  pauses_ = false;
  do {
    kept_.consume(handOn(kept_.front()));
  } while (!pauses_ && !kept_.empty() && !connection_.closed());
  charge_.release();
  // Others may have taken the room in between, and these bytes are here already.
  if (pauses_) charge_.reach(kept_.size());
}

void H2Intake::drop() {
  pauses_ = false;
  kept_.clear();
  charge_.release();
}

std::size_t H2Intake::handOn(std::string_view bytes) {
  std::string_view rest = bytes;
  for (;;) {
    // Behind a break nghttp2 wants to be called even without bytes: the head's last line may have been the last one of
    // the turn.
    if (ahead_ > 0 || receiver_.breakDue()) rest.remove_prefix(receive(rest.substr(0, ahead_)));
    if (connection_.closed()) return bytes.size();
    if (receiver_.breakDue()) {
      pauses_ = !kept_.empty() || mayKeep(rest.size());
      return pauses_ ? bytes.size() - rest.size() : bytes.size();
    }
    if (rest.empty()) return bytes.size();
    if (std::exchange(stopped_, false)) receiver_.judgeData(walk_.stoppedAt());
    ahead_ = walk_.advance(rest);
    stopped_ = ahead_ < rest.size();
  }
}

std::size_t H2Intake::receive(std::string_view bytes) {
  if (receiver_.breakDue()) receiver_.beginTurn();
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(connection_.library, data, bytes.size());
  if (taken < 0) {
    connection_.breakOff(static_cast<int>(taken));
    return bytes.size();
  }
  ahead_ -= static_cast<std::size_t>(taken);
  return static_cast<std::size_t>(taken);
}

}  // namespace sluice::http
