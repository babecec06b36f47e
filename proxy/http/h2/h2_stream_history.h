// Remembers how the peer's part of each of the newest streams of an HTTP/2 connection ended, so that a frame which
// comes too late can be distinguished from one that was already in flight (RFC 9113 section 5.1).
//
// nghttp2 forgets a stream when it closes, and passes over the frames that still come for it. Each side of a connection
// keeps this history. It forgets too: a stream that is older than the newest ones is unknown, like one that lives or
// that this side has cut short, and its late frames are left to nghttp2. Owned by the connection; one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "proxy/http/codec.h"

namespace sluice::http {

class H2StreamHistory {
 public:
  enum class PeerEnd : std::uint8_t {
    kUnknown,  // no frame of the stream is certainly wrong
    kSkipped,  // the client opened a later stream instead, and may not open this one any more
    kEnded,    // the peer sent END_STREAM, and the stream is closed
    kReset     // the peer sent RST_STREAM
  };
  static constexpr StreamId kStreams = 128;

  /// Returns the lowest stream that the client may open now.
  StreamId next() const { return next_; }
  /// Returns true if a client may open this stream now.
  bool isNew(StreamId id) const { return id >= next_ && id % 2 == 1; }
  /// Notes that the client has opened a stream that is new.
  void open(StreamId id) {
    if (id != next_) skip(id);
    ends_[slotOf(id)] = PeerEnd::kUnknown;
    next_ = id + 2;
  }
  /// Notes how the peer's part of a stream has ended.
  void close(StreamId id, PeerEnd end) {
    if (remembers(id)) ends_[slotOf(id)] = end;
  }
  PeerEnd endOf(StreamId id) const { return remembers(id) ? ends_[slotOf(id)] : PeerEnd::kUnknown; }

 private:
  static constexpr StreamId kIds = 2 * kStreams;  // a client's streams have odd numbers

  /// Kept out of open(), which rarely needs it.
  [[gnu::noinline]] void skip(StreamId id) {
    StreamId skipped = id > kIds ? std::max(next_, id - kIds) : next_;
    for (; skipped < id; skipped += 2) ends_[slotOf(skipped)] = PeerEnd::kSkipped;
  }
  static StreamId slotOf(StreamId id) { return id / 2 % kStreams; }
  bool remembers(StreamId id) const { return id % 2 == 1 && id < next_ && next_ - id <= kIds; }

  std::array<PeerEnd, kStreams> ends_{};
  StreamId next_ = 1;
};

}  // namespace sluice::http
