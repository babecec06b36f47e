// One HTTP/2 connection over nghttp2, as both codecs use it: joins the receiving half (H2Receiver) and the sending half
// (H2Sender) on one H2Connection, and bounds the frames that a peer may make this side queue (RFC 9113).
//
// A codec owns one, forwards its public calls to the half that they concern, and handles the events as H2Events. One
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_connection.h"
#include "proxy/http/h2/h2_intake.h"
#include "proxy/http/h2/h2_memory.h"
#include "proxy/http/h2/h2_receiver.h"
#include "proxy/http/h2/h2_sender.h"
#include "proxy/http/h2/h2_windows.h"
#include "proxy/http/limits.h"

namespace sluice::http {

class H2Session {
 public:
  /// Without `memory` the session keeps an H2Memory of its own. Received heads are charged to `heads`, if there is such
  /// an account.
  H2Session(H2Side side, H2Events& events, base::ChunkPool& pool, const Limits& limits, const base::Clock& clock,
            H2Memory* memory, HeadAccount* heads = nullptr);
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;
  ~H2Session();

  void feed(std::string_view bytes);
  /// Returns true if bytes were kept back because they are expensive to decode (h2_intake.h); resume() continues with
  /// them.
  bool pauses() const { return !closed() && intake_.pauses(); }
  void resume();
  void produce(base::ByteQueue& out, std::size_t limit);
  /// Returns how many bytes may be read now: 0 once the peer lets too many of our frames wait.
  std::size_t budget() const;

  H2Streams& streams() { return connection_.streams; }
  H2Receiver& receiver() { return receiver_; }
  const H2Receiver& receiver() const { return receiver_; }
  H2Sender& sender() { return sender_; }
  const H2Sender& sender() const { return sender_; }
  /// Returns nullptr if the connection has no such stream.
  H2Stream* find(StreamId id) { return connection_.find(id); }
  /// Ends the connection; see H2Connection::end().
  void end(std::optional<H2ErrorCode> goodbye) {
    connection_.end(goodbye);
    dropInput();
  }
  void grant(StreamId id, std::size_t count) { grantStream(connection_, id, count); }
  void widen(StreamId id) { widenStream(connection_, id); }
  H2FieldReader& section() { return receiver_.section(); }
  const Limits& limits() const { return connection_.limits; }
  base::ChunkPool& pool() const { return connection_.pool; }
  bool closed() const { return connection_.closed(); }
  bool peerSaidGoaway() const { return receiver_.peerSaidGoaway(); }
  bool hasOutput() const { return sender_.hasOutput(); }
  std::size_t liveStreams() const { return closed() ? 0 : connection_.streams.count(); }
  /// Returns how many streams the peer lets us have open at once: 100 until its SETTINGS arrive, although requests wait
  /// for those here.
  std::size_t peerConcurrency() const { return receiver_.peerConcurrency(); }
  /// Returns how many streams we can still begin on this connection (31 bits, odd numbers only).
  std::size_t idsLeft() const {
    constexpr StreamId kEnd = StreamId{1} << 31;
    return (kEnd - std::min(connection_.history.next(), kEnd)) / 2;
  }

 private:
  void makeLibrarySession(H2Memory& shared);
  void submitSettings();
  void settleReceived();
  /// Bounds the frames that the received bytes make this side queue.
  void boundReceived();
  void dropInput();
  std::size_t queuedFrames() const;

  std::unique_ptr<H2Memory> ownMemory_;
  H2Connection connection_;
  H2Receiver receiver_;
  H2Sender sender_;
  H2Intake intake_;
};

}  // namespace sluice::http
