// Drains what clients still send on an HTTP/2 connection behind responses that were complete before their requests: it
// is received and thrown away, and its window is given back. A client in the midst of an upload may lose a response
// that is followed by a reset at once, although RFC 9113 section 8.1 allows that reset.
//
// A drained stream has no owner any more, but is open: it counts towards limits.concurrentStreams. limits.drainBytes
// bounds the bytes of each, and four times that the bytes of all that are drained at once; the owner of the connection
// bounds their time. Beyond that a stream is reset; if it sent too much, the client has provoked that reset
// (limits.resetsPerMinute). Bytes of a stream that was reset stay counted until no stream is drained, so that streams
// cannot take turns. Owned by H2Receiver; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/clock.h"
#include "proxy/http/h2/h2_stream.h"

namespace sluice::http {

class H2Connection;

class H2Drain {
 public:
  explicit H2Drain(H2Connection& connection) : connection_(connection) {}
  H2Drain(const H2Drain&) = delete;
  H2Drain& operator=(const H2Drain&) = delete;

  /// Takes a stream whose response has left while the client may still send. Resets it at once if nothing may be
  /// drained.
  void begin(H2Stream& stream);
  /// Throws bytes of a drained stream away. They have arrived, and are in H2Stream::ungranted.
  void take(H2Stream& stream, std::size_t size);
  /// Called for each stream that closes.
  void close(const H2Stream& stream);

  /// Returns a time at or before which the oldest drain has begun; zero if no stream is drained.
  base::MonotonicTime since() const { return since_; }
  /// Resets the streams that have been drained since `time` or longer. Returns how many there were.
  std::size_t expire(base::MonotonicTime time);

 private:
  std::uint64_t mostTaken() const;
  void cut(H2Stream& stream);
  void leave();

  H2Connection& connection_;
  base::MonotonicTime since_{};
  std::uint64_t taken_ = 0;  // bytes of streams that are drained, and of those that were cut meanwhile
  std::size_t streams_ = 0;  // that are drained
};

}  // namespace sluice::http
