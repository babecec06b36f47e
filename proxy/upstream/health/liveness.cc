#include "proxy/upstream/health/liveness.h"

namespace sluice::upstream {

bool Liveness::feed(http::ClientCodec& codec, std::string_view bytes, base::MonotonicTime now) {
  const bool awaits = schedule_.isUnanswered();
  const std::uint64_t answered = awaits ? codec.pingsAnswered() : 0;
  codec.feed(bytes);
  if (awaits && bytes.size() == (codec.pingsAnswered() - answered) * http::ClientCodec::kPingBytes) {
    schedule_.onAnswer();
  } else {
    schedule_.onBytes(now);
  }
  return std::exchange(suspect_, false);
}

base::MonotonicTime Liveness::due(const http::ClientCodec& codec, base::Duration silence) const {
  if (schedule_.isUnanswered()) return schedule_.answerDue();
  const bool waits = codec.activeStreams() > 0 || suspect_;
  if (silence == base::Duration::zero() || codec.version() != http::Version::kHttp2 || !waits) {
    return base::MonotonicTime::max();
  }
  return schedule_.pingDue(suspect_ ? base::Duration::zero() : silence);
}

bool Liveness::check(http::ClientCodec& codec, base::Duration silence, base::MonotonicTime now) {
  if (due(codec, silence) > now) return true;
  // The answer may be in the socket's buffer, which is not read now.
  if (codec.readBudget() == 0) {
    schedule_.onBytes(now);
    return true;
  }
  if (schedule_.isUnanswered()) return false;
  codec.ping();
  schedule_.onPing(now);
  return true;
}

}  // namespace sluice::upstream
