#include "proxy/http/h2/h2_connection.h"

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <utility>

namespace sluice::http {

int H2Connection::fail(H2ErrorCode code, std::optional<Limit> limit) {
  if (!violation_) violation_ = H2Violation{code, limit};
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

void H2Connection::breakOff(int libraryError) {
  if (!violation_) {
    switch (libraryError) {
      case NGHTTP2_ERR_FLOODED:
        violation_ = H2Violation{H2ErrorCode::kEnhanceYourCalm, Limit::kQueuedControlFrames};
        break;
      case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
        violation_ = H2Violation{H2ErrorCode::kEnhanceYourCalm, Limit::kHeaderBytes};
        break;
      case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
        violation_ = H2Violation{H2ErrorCode::kProtocolError, std::nullopt};
        break;
      default:
        violation_ = H2Violation{H2ErrorCode::kInternalError, std::nullopt};
    }
  }
  if (violation_->limit) events.limitHit(*violation_->limit);
  end(violation_->code);
}

void H2Connection::end(std::optional<H2ErrorCode> goodbye) {
  if (closed_) return;
  closed_ = failed_ = true;
  goodbye_ = goodbye;
  loseStreams();
}

void H2Connection::settle() {
  if (closed_ || nghttp2_session_want_read(library) != 0) return;
  closed_ = true;
  loseStreams();
}

void H2Connection::loseStreams() {
  for (H2Stream* stream = streams.newest(); stream != nullptr; stream = stream->next) {
    if (stream->token == kNoToken) continue;
    events.streamLost(*stream, {.connectionLost = true, .unprocessed = stream->send == H2Stream::Send::kQueued});
    stream->token = kNoToken;
  }
}

bool H2Connection::countReset() {
  const base::MonotonicTime now = clock_.now();
  if (resets_ == 0 || now - resetsSince_ >= std::chrono::minutes(1)) {
    resetsSince_ = now;
    resets_ = 0;
  }
  return ++resets_ <= limits.resetsPerMinute;
}

// The clock is asked only once the count is high, so the minute may have begun long ago.
bool H2Connection::countControl() {
  constexpr std::uint64_t kPerContent = 10;
  if (++controlFrames_ <= limits.controlFramesPerMinute + kPerContent * contentFrames_) return true;
  const base::MonotonicTime now = clock_.now();
  if (now - controlSince_ < std::chrono::minutes(1)) return false;
  controlSince_ = now;
  controlFrames_ = 1;
  contentFrames_ = 0;
  return true;
}

std::optional<H2ErrorCode> H2Connection::takeGoodbye() { return std::exchange(goodbye_, std::nullopt); }

}  // namespace sluice::http
