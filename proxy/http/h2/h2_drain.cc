#include "proxy/http/h2/h2_drain.h"

#include "proxy/http/h2/h2_connection.h"
#include "proxy/http/h2/h2_sender.h"
#include "proxy/http/h2/h2_windows.h"

namespace sluice::http {
namespace {

constexpr std::uint64_t kStreamsOfConnection = 4;  // whose whole limits.drainBytes may be drained at once

}  // namespace

std::uint64_t H2Drain::mostTaken() const { return kStreamsOfConnection * connection_.limits.drainBytes; }

// The window of a drained stream costs no memory, so it is the whole one, and a distant client needs fewer rounds.
void H2Drain::begin(H2Stream& stream) {
  stream.token = kNoToken;
  if (stream.resetByUs) return;
  if (connection_.limits.drainBytes == 0) return connection_.sender->submitReset(stream, H2ErrorCode::kNoError);
  if (taken_ >= mostTaken()) {
    connection_.events.limitHit(Limit::kDrainBytes);
    return connection_.sender->submitReset(stream, H2ErrorCode::kNoError);
  }
  stream.drainedSince = connection_.now();
  if (streams_++ == 0) since_ = stream.drainedSince;
  widenStream(connection_, stream.id);
  grantStream(connection_, stream.id, stream.ungranted);
}

void H2Drain::take(H2Stream& stream, std::size_t size) {
  stream.drained += size;
  taken_ += size;
  if (stream.drained <= connection_.limits.drainBytes && taken_ <= mostTaken())
    return grantStream(connection_, stream.id, stream.ungranted);
  connection_.events.limitHit(Limit::kDrainBytes);
  stream.overdrained = true;
  cut(stream);
}

void H2Drain::close(const H2Stream& stream) {
  if (!stream.isDrained()) return;
  taken_ -= stream.drained;
  leave();
}

std::size_t H2Drain::expire(base::MonotonicTime time) {
  if (connection_.closed()) return 0;
  std::size_t expired = 0;
  since_ = {};
  for (H2Stream* stream = connection_.streams.newest(); stream != nullptr; stream = stream->next) {
    if (!stream->isDrained()) continue;
    if (stream->drainedSince <= time) {
      cut(*stream);
      ++expired;
    } else if (since_ == base::MonotonicTime{} || stream->drainedSince < since_) {
      since_ = stream->drainedSince;
    }
  }
  return expired;
}

void H2Drain::cut(H2Stream& stream) {
  stream.drainedSince = {};
  connection_.sender->submitReset(stream, H2ErrorCode::kNoError);
  leave();
}

void H2Drain::leave() {
  if (--streams_ > 0) return;
  taken_ = 0;
  since_ = {};
}

}  // namespace sluice::http
