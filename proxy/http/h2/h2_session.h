// One HTTP/2 connection over nghttp2: what both sides of the codec share. Streams, credit, the limits on what a peer
// may do to us, and the order in which frames leave (RFC 9113).
//
// A codec derives from it, forwards its public calls, and says what the events mean. Frames are serialised nowhere but
// in produceInto(), that is once per turn, and never inside nghttp2's callbacks. Once the connection has failed,
// nghttp2 is not called again: what it still holds is only freed. Owned by the connection; one thread.
//
// The peer's credit for a stream comes back when the stream's consumer grants it; its credit for the connection comes
// back when bytes arrive, with the next frames that leave or, if there are none, before it runs short. So a stream
// whose consumer takes nothing stops itself alone, and the memory of a connection is bounded by the windows of its
// streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_field_reader.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/http/h2/h2_stream.h"
#include "proxy/http/limits.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace sluice::http {

class H2Session {
 public:
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

 protected:
  enum class Side : std::uint8_t { kServer, kClient };
  enum class ErrorCode : std::uint32_t {
    kNoError = 0x0,
    kProtocolError = 0x1,
    kInternalError = 0x2,
    kRefusedStream = 0x7,
    kCancel = 0x8,
    kEnhanceYourCalm = 0xb
  };

  H2Session(Side side, base::ChunkPool& pool, const Limits& limits, const base::Clock& clock, H2Memory* memory);
  virtual ~H2Session();

  // What happens, told to the side. Called from feedBytes() and produceInto() only.
  /// A field section of this stream has arrived whole; it is in section().
  virtual void headArrived(H2Stream& stream, bool endOfStream) = 0;
  virtual void bodyArrived(H2Stream& stream, std::string_view bytes) = 0;
  /// END_STREAM without trailers.
  virtual void bodyEnded(H2Stream& stream) = 0;
  virtual BodyPipe* pipeOf(Token token) = 0;
  virtual void bytesTaken(Token token, std::size_t count) = 0;
  /// END_STREAM went out.
  virtual void sendEnded(H2Stream& stream) = 0;
  /// The stream is over before its owner was done with it; its token is not used again.
  virtual void streamLost(H2Stream& stream, const H2Loss& loss) = 0;
  virtual void limitHit(Limit limit) = 0;
  /// The peer has answered our ping.
  virtual void pinged() {}

  // The codec's calls that are the same on both sides.
  void feedBytes(std::string_view bytes);
  void produceInto(base::ByteQueue& out, std::size_t limit);
  bool hasOutput() const;
  void wakeStream(StreamId id);
  void grantBytes(StreamId id, std::size_t count);
  void widenStream(StreamId id);
  /// The peer's window for this stream, or for the connection, is used up.
  bool isBlocked(StreamId id) const;
  std::size_t budget() const;
  /// The peer is gone, or deserves no further hearing: every stream is lost, kClosed. `goodbye` goes out as a GOAWAY.
  void endConnection(std::optional<ErrorCode> goodbye);
  void resetByOwner(StreamId id, ResetReason reason);

  // For the sides' own sending.
  struct Line {
    std::string_view name;  // static lifetime
    std::string_view value;
  };
  enum class Head : std::uint8_t { kInterim, kLast, kBeforeBody };
  /// Submits a response head. A line that may not stand in a field section resets the stream instead.
  void submitResponse(H2Stream& stream, std::span<const Line> control, const Headers& fields, Head kind);
  /// Submits a request and names the stream. False if a line may not stand in a field section; nothing was submitted.
  bool submitRequest(H2Stream& stream, std::span<const Line> control, const Headers& fields, bool withBody);
  void submitReset(H2Stream& stream, ErrorCode code);
  void submitPing();
  /// GOAWAY that names the last stream that was begun; `notice`: one that promises such a GOAWAY (RFC 9113
  /// section 6.8).
  void submitGoaway(bool notice);

  H2Stream* find(StreamId id) {
    if (recent_ == nullptr || recent_->id != id) recent_ = lookUp(id);
    return recent_;
  }
  H2Stream& addStream(StreamId id);
  void removeStream(H2Stream& stream);
  H2FieldReader& section() { return section_; }
  /// Ends the event source of a stream whose owner got its last event, and forgets the body it has not taken.
  void detach(H2Stream& stream);

  base::ChunkPool& pool() const { return pool_; }
  const Limits& limits() const { return limits_; }
  /// Streams that the peer lets us have open at once; 100 until its SETTINGS arrive, although they wait for them here.
  std::size_t peerConcurrency() const;
  /// Streams that we can still begin on this connection (31 bits, odd numbers only).
  std::size_t idsLeft() const;
  std::size_t liveStreams() const { return closed_ ? 0 : liveCount_; }
  bool closed() const { return closed_; }
  bool peerSaidGoaway() const { return peerSaidGoaway_; }
  /// Streams that we have reset on this connection; counted by a client only.
  std::uint32_t resetsSent() const { return resetsSent_; }
  bool headIncomplete() const { return headIncomplete_; }
  /// The peer's preface and SETTINGS have arrived.
  bool settingsArrived() const { return settingsArrived_; }

 private:
  struct Receiving;  // nghttp2's callbacks for what arrives
  struct Sending;    // and for what leaves
  struct Failure {
    ErrorCode code;
    std::optional<Limit> limit;
  };

  H2Stream* lookUp(StreamId id) const;
  void submitTrailers(H2Stream& stream, const Headers& fields);
  /// The pipe that the stream's body is taken from broke.
  void failBody(H2Stream& stream);
  static void registerReceiving(nghttp2_session_callbacks* callbacks);
  static void registerSending(nghttp2_session_callbacks* callbacks);
  void makeLibrarySession();
  void submitSettings();

  /// Marks the connection as failed from inside a callback, and returns what the callback shall return.
  int failInside(ErrorCode code, std::optional<Limit> limit);
  void breakOff(int libraryError);
  /// Notices that nghttp2 is done with the connection: goodbyes were said, or it found a violation.
  void settle();
  void loseStreams();
  /// Gives the connection's window back for the body bytes that have arrived, whoever reads them.
  void returnConnectionCredit();
  bool isConnectionCreditDue() const;
  /// A stream was cut short through the peer's doing. False if it did so too often.
  bool countReset();
  bool countEmptyFrame();
  std::size_t queuedFrames() const;
  void closeStream(H2Stream& stream, std::uint32_t code);
  void takePreface();
  void writeGoodbye(base::ByteQueue& out);

  base::ChunkPool& pool_;
  const Limits limits_;
  const base::Clock& clock_;
  std::unique_ptr<H2Memory> ownMemory_;
  H2Memory& memory_;
  nghttp2_session* session_ = nullptr;
  H2Stream* streams_ = nullptr;
  H2Stream* recent_ = nullptr;  // found last: events of one stream mostly come together
  std::size_t liveCount_ = 0;
  std::size_t unreturned_ = 0;  // body bytes that arrived since returnConnectionCredit()
  H2FieldReader section_;
  base::ByteQueue* out_ = nullptr;  // while producing
  std::size_t outLimit_ = 0;
  base::MonotonicTime resetsSince_{};
  std::uint32_t resets_ = 0;
  std::uint32_t resetsSent_ = 0;
  std::uint32_t emptyFrames_ = 0;
  std::optional<Failure> failure_;
  std::optional<ErrorCode> goodbye_;
  bool prefacePending_ = false;
  Side side_;
  bool closed_ = false;
  bool failed_ = false;  // nghttp2 is not to be called again
  bool peerSaidGoaway_ = false;
  bool headIncomplete_ = false;
  bool settingsArrived_ = false;
};

}  // namespace sluice::http
