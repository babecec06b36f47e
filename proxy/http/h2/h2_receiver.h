// The receiving half of one HTTP/2 connection holds the field section under way, the peer's SETTINGS and GOAWAY, the
// count of empty frames, the uploads that are drained, and the credit that goes back for body bytes (RFC 9113).
//
// The peer's credit for a stream comes back when the stream's consumer grants it; its credit for the connection comes
// back when bytes arrive, with the next frames that leave or, if there are none, before it runs short. So a stream
// whose consumer takes nothing stops itself alone, and the memory of a connection is bounded by the windows of its
// streams. Owned by H2Session; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_connection.h"
#include "proxy/http/h2/h2_drain.h"
#include "proxy/http/h2/h2_field_reader.h"

struct nghttp2_session_callbacks;

namespace sluice::http {

class H2Receiver {
 public:
  H2Receiver(H2Connection& connection, HeadAccount* account)
      : connection_(connection),
        drain_(connection),
        section_(connection.pool, connection.limits, connection.side == H2Side::kClient, account) {
    connection.receiver = this;
  }
  H2Receiver(const H2Receiver&) = delete;
  H2Receiver& operator=(const H2Receiver&) = delete;

  static void registerCallbacks(nghttp2_session_callbacks* callbacks);

  /// Returns the field section that has arrived last; valid during H2Events::headArrived().
  H2FieldReader& section() { return section_; }
  /// Returns true if a field section has begun to arrive and has not ended.
  bool headIncomplete() const { return incompleteOf_ != 0; }
  /// Returns true once the peer's preface and SETTINGS have arrived.
  bool settingsArrived() const { return settingsArrived_; }
  /// Returns true if the peer, a server, takes requests for tunnels (RFC 8441 section 3); false until its SETTINGS
  /// arrive.
  bool peerTakesTunnels() const;
  bool peerSaidGoaway() const { return peerSaidGoaway_; }
  H2Drain& drain() { return drain_; }
  const H2Drain& drain() const { return drain_; }
  /// Returns how many streams the peer lets us have open at once: 100 until its SETTINGS arrive.
  std::uint32_t peerConcurrency() const { return peerConcurrency_; }

  /// Lets nghttp2 read on after a break; also called before each read.
  void beginTurn() {
    section_.beginTurn();
    breakDue_ = bodyCame_ = false;
  }
  /// Returns true if bytes of bodies have come since then.
  bool bodyCame() const { return bodyCame_; }
  /// Returns true if nghttp2 has stopped, because this connection has decoded enough while others wait.
  bool breakDue() const { return breakDue_; }

  /// Resets a stream whose message is malformed (RFC 9113 section 8.1.1), and reports its loss to its owner.
  void refuseMalformed(H2Stream& stream);
  /// Answers DATA that comes after the end of its stream. Called before nghttp2 sees the frame.
  void judgeData(StreamId id);
  /// Gives the connection's window back for the body bytes that have arrived, whether or not they were taken.
  void returnCredit();
  /// Returns true if the connection's window is about to run short.
  bool isCreditDue() const;

 private:
  struct Receiving;  // nghttp2's callbacks for received frames

  /// Answers HEADERS that come after the end of their stream. Returns the callback's result.
  int answerLateHeaders(StreamId id);
  /// Answers a frame that comes after the peer's reset of its stream.
  void answerReset(StreamId id);
  void sectionArrived(H2Stream& stream, bool endOfStream);
  bool countEmptyFrame() { return ++emptyFrames_ <= connection_.limits.emptyFrames; }
  void closeStream(H2Stream& stream, std::uint32_t code);

  H2Connection& connection_;
  H2Drain drain_;
  H2FieldReader section_;
  std::size_t unreturned_ = 0;  // body bytes that arrived since returnCredit()
  std::uint32_t emptyFrames_ = 0;
  std::uint32_t peerConcurrency_ = 100;  // RFC 9113 section 6.5.2 recommends no less
  StreamId incompleteOf_ = 0;            // the stream whose field section has not ended
  bool breakDue_ = false;
  bool bodyCame_ = false;
  bool settingsArrived_ = false;
  bool peerSaidGoaway_ = false;
};

}  // namespace sluice::http
