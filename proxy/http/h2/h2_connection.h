// Both directions of one HTTP/2 connection share these: nghttp2's session, the streams, how often streams were cut
// short, and how the connection came to its end.
//
// nghttp2's callbacks carry a pointer to it. Once the connection has failed, nghttp2 is only asked for its last stream,
// and frees its frames. Owned by H2Session; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/http/h2/h2_stream.h"
#include "proxy/http/h2/h2_stream_history.h"
#include "proxy/http/h2/h2_streams.h"
#include "proxy/http/limits.h"

struct nghttp2_session;

namespace sluice::http {

class H2Receiver;
class H2Sender;

enum class H2Side : std::uint8_t { kServer, kClient };

/// RFC 9113 section 7.
enum class H2ErrorCode : std::uint32_t {
  kNoError = 0x0,
  kProtocolError = 0x1,
  kInternalError = 0x2,
  kStreamClosed = 0x5,
  kRefusedStream = 0x7,
  kCancel = 0x8,
  kEnhanceYourCalm = 0xb
};

/// The events of a connection that its codec gets, while bytes are fed or produced, and while credit is given.
class H2Events {
 public:
  /// Called when a whole field section of this stream has arrived; it is in H2Receiver::section().
  virtual void headArrived(H2Stream& stream, bool endOfStream) = 0;
  virtual void bodyArrived(H2Stream& stream, std::string_view bytes) = 0;
  /// Called for END_STREAM without trailers.
  virtual void bodyEnded(H2Stream& stream) = 0;
  /// Returns the pipe from which a stream's body is taken; nullptr if its owner is gone.
  virtual BodyPipe* pipeOf(Token token) = 0;
  virtual void bytesTaken(Token token, std::size_t count) = 0;
  /// Called when END_STREAM went out.
  virtual void sendEnded(H2Stream& stream) = 0;
  /// Called when the stream ends before its owner was done with it: it is closed, or it will be once RST_STREAM has
  /// been sent. Its token is not used again.
  virtual void streamLost(H2Stream& stream, const H2Loss& loss) = 0;
  virtual void limitHit(Limit limit) = 0;
  /// Called when the peer has answered our ping.
  virtual void pinged() {}

 protected:
  ~H2Events() = default;
};

class H2Connection {
 public:
  H2Connection(H2Side which, H2Events& codec, base::ChunkPool& chunks, const Limits& bounds, const base::Clock& clock,
               H2Memory& memory)
      : events(codec),
        pool(chunks),
        limits(bounds),
        streams(memory),
        side(which),
        clock_(clock),
        controlSince_(clock.now()) {}
  H2Connection(const H2Connection&) = delete;
  H2Connection& operator=(const H2Connection&) = delete;

  /// Returns nullptr if the connection has no such stream.
  H2Stream* find(StreamId id) { return streams.find(id); }

  /// Marks the connection as failed from inside a callback, and returns the callback's result.
  int fail(H2ErrorCode code, std::optional<Limit> limit);
  /// Ends the connection after nghttp2 gave up, by itself or because a callback marked the connection as failed.
  void breakOff(int libraryError);
  /// Ends the connection because the peer is gone, or is not to be read any further: every stream is lost. `goodbye`
  /// goes out as a GOAWAY.
  void end(std::optional<H2ErrorCode> goodbye);
  /// Ends the connection if nghttp2 is done with it, because it was terminated by GOAWAY or because nghttp2 found a
  /// violation.
  void settle();
  /// Counts a stream that the peer caused to be cut short. Returns false if that happened too often.
  bool countReset();
  /// Counts a frame of a head or body, of either side.
  void countContent() { ++contentFrames_; }
  /// Counts any other frame of the peer, except for resets that countReset() counts. Returns false if there were too
  /// many.
  bool countControl();

  base::MonotonicTime now() const { return clock_.now(); }
  bool closed() const { return closed_; }
  /// Returns true if nghttp2 must not be called again.
  bool failed() const { return failed_; }
  bool owesGoodbye() const { return goodbye_.has_value(); }
  std::optional<H2ErrorCode> takeGoodbye();

  H2Events& events;
  base::ChunkPool& pool;
  const Limits limits;
  H2Streams streams;
  H2StreamHistory history;
  const H2Side side;
  nghttp2_session* library = nullptr;
  H2Receiver* receiver = nullptr;  // both for nghttp2's callbacks
  H2Sender* sender = nullptr;

 private:
  struct H2Violation {
    H2ErrorCode code;
    std::optional<Limit> limit;
  };

  void loseStreams();

  const base::Clock& clock_;
  base::MonotonicTime resetsSince_{};
  std::uint32_t resets_ = 0;
  base::MonotonicTime controlSince_;
  std::uint64_t controlFrames_ = 0;  // control frames since controlSince_
  std::uint64_t contentFrames_ = 0;
  std::optional<H2Violation> violation_;
  std::optional<H2ErrorCode> goodbye_;
  bool closed_ = false;
  bool failed_ = false;
};

}  // namespace sluice::http
