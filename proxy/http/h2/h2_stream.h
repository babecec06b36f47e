// The state of one HTTP/2 stream in a codec, from its first byte to its end (RFC 9113 section 5.1).
//
// Owned by the connection's H2Streams, in the worker's H2Memory. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_body_length.h"
#include "proxy/http/h2/h2_raw_line.h"
#include "proxy/http/message.h"

namespace sluice::http {

struct H2Stream {
  enum class Receive : std::uint8_t {
    kHead,     // the final head has not arrived
    kBody,     // the owner takes body bytes and trailers
    kDiscard,  // more may come, but it is not wanted
    kDone      // the peer's side is complete
  };
  enum class Send : std::uint8_t {
    kQueued,  // client: the request's HEADERS are not serialised yet, so nghttp2 does not know the stream
    kOpen,
    kDone  // END_STREAM went out
  };

  H2Stream* previous = nullptr;
  H2Stream* next = nullptr;
  H2Stream* nextOfBucket = nullptr;    // of H2Streams
  Token token = kNoToken;              // kNoToken: the owner gets no further events
  std::size_t ungranted = 0;           // body bytes that have come, and that no consumer has taken
  const char* failure = nullptr;       // why our side cannot complete it; static text
  H2BodyLength length;                 // of the body that arrives
  base::MonotonicTime drainedSince{};  // zero if it is not drained (h2_drain.h)
  std::uint64_t drained = 0;           // body bytes that were thrown away since
  StreamId id = 0;
  std::uint16_t interims = 0;  // of a client: that came; of a server: that were submitted
  Method method = Method::kGet;
  Receive receive = Receive::kHead;
  Send send = Send::kOpen;
  bool resetByUs = false;
  bool violated = false;     // the peer broke the protocol, and we reset the stream for that
  bool overdrained = false;  // the peer sent more than may be drained, and we reset the stream
  bool resetByPeer = false;
  bool awaitsAgreement = false;  // client: a tunnel to which the peer has not agreed, so no body leaves
  H2RawLine rawLine;             // belongs to the block of the next HEADERS

  /// Returns true on the server's side for a tunnel that was asked for (RFC 8441) and was not answered otherwise.
  bool isTunnel() const { return method == Method::kConnect; }
  /// Returns true if our way of such a tunnel has ended.
  bool sentWholeTunnel() const { return isTunnel() && send == Send::kDone; }
  bool isDrained() const { return drainedSince != base::MonotonicTime{}; }
  /// Returns true on the client's side for a tunnel to which the peer has agreed.
  bool isOpenTunnel() const { return method == Method::kConnect && !awaitsAgreement; }
  /// Ends the events for the owner, and forgets the body that it has not taken.
  void detach() {
    token = kNoToken;
    ungranted = 0;
  }
};

/// The reason why a stream ended before its message did.
struct H2Loss {
  bool connectionLost = false;
  bool unprocessed = false;  // the peer certainly has not begun to process it
};

}  // namespace sluice::http
