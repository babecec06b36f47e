// The sending half of one HTTP/2 connection, which decides which frames leave, and in which order (RFC 9113): heads are
// submitted at once (nghttp2 copies them into the worker's H2Memory), frames are serialised in produce() alone, once
// per turn and never inside the callbacks of the receiving half, and bodies move from the pipe to the connection's
// queue without a copy.
//
// Owned by H2Session; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/authority.h"
#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_connection.h"

struct nghttp2_session_callbacks;

namespace sluice::http {

class H2Sender {
 public:
  explicit H2Sender(H2Connection& connection) : connection_(connection) { connection.sender = this; }
  H2Sender(const H2Sender&) = delete;
  H2Sender& operator=(const H2Sender&) = delete;

  static void registerCallbacks(nghttp2_session_callbacks* callbacks);
  /// Takes a client's connection preface out of nghttp2, as soon as its session is made.
  void takePreface();

  /// One line of a message's control data.
  struct ControlLine {
    std::string_view name;  // static lifetime
    std::string_view value;
  };
  enum class Head : std::uint8_t { kInterim, kLast, kBeforeBody };
  /// Submits a response head. A line that is not allowed in a field section resets the stream instead.
  void submitResponse(H2Stream& stream, std::span<const ControlLine> control, const Headers& fields, Head kind);
  /// Submits a request, whose control data is in `control`, and names the stream. Returns false if a line is not
  /// allowed in a field section; nothing was submitted then.
  bool submitRequest(H2Stream& stream, std::span<const ControlLine> control, const RequestHead& head);
  /// Ends our side of a request for a tunnel that was declined, whose pipe is left alone.
  void endWithoutBody(H2Stream& stream);
  void submitReset(H2Stream& stream, H2ErrorCode code);
  /// Resets a stream for a violation, which is counted as a reset by the peer.
  void resetViolated(H2Stream& stream);
  /// Orders the stream's body among the others as its Priority field asks (RFC 9218).
  void prioritize(const H2Stream& stream, std::string_view priority);
  void submitPing();
  /// Submits a GOAWAY that names the last stream that was begun, or with `notice` one that promises such a GOAWAY (RFC
  /// 9113 section 6.8).
  void submitGoaway(bool notice);

  /// Called when the stream's pipe has more bytes, has ended, or broke.
  void wake(StreamId id);
  /// Cuts the stream short for its owner, which gets no further events of it.
  void reset(StreamId id, ResetReason reason);
  /// Returns true if the peer's window for this stream, or for the connection, is used up.
  bool isBlocked(StreamId id) const;
  /// Returns the number of streams that this side has reset on the connection; only a client counts them.
  std::uint32_t resetsSent() const { return resetsSent_; }

  /// Writes a client's preface, which comes before everything else.
  void writePreface(base::ByteQueue& out);
  /// Returns true if produce() or writeGoodbye() would append something.
  bool hasOutput() const;
  /// Appends frames until `out` holds about `limit` bytes. Returns nghttp2's error, or 0. Not to be called on a
  /// connection that has failed.
  int produce(base::ByteQueue& out, std::size_t limit);
  /// Writes the GOAWAY of a connection that has failed, if one is due.
  void writeGoodbye(base::ByteQueue& out);

 private:
  struct Sending;  // nghttp2's callbacks for sent frames

  /// Lets the frame that nghttp2 is handing out end with the stream's raw line.
  void takeRawLine(H2Stream& stream);
  void submitTrailers(H2Stream& stream, const Headers& fields);
  /// Resets the stream after the pipe of its body broke.
  void failBody(H2Stream& stream);

  H2Connection& connection_;
  base::ByteQueue* out_ = nullptr;  // while producing
  std::size_t outLimit_ = 0;
  H2RawLine rawLine_;         // for the frame that nghttp2 is handing out
  KnownAuthority authority_;  // of the requests that this side sends
  std::uint32_t resetsSent_ = 0;
  bool prefacePending_ = false;
};

}  // namespace sluice::http
