// Walks from frame to frame through the bytes that an HTTP/2 connection receives, beside nghttp2 and before it (RFC
// 9113 section 4.1), because nghttp2 does not report DATA of a stream that it has closed. The walk stops before each
// DATA frame whose stream may be closed. It reads only frame headers, and checks nothing.
//
// DATA behind HEADERS or DATA of the same stream, with neither END_STREAM nor a reset in between, belongs to a stream
// that is open, or whose first frame has been judged: so a body in many frames costs one stop. Owned by H2Session; one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/http/codec.h"

namespace sluice::http {

class H2FrameWalk {
 public:
  /// `preface` is the number of bytes before the first frame.
  explicit H2FrameWalk(std::size_t preface) : next_(preface) {}

  /// Walks through `bytes`. Returns how many of them lie before the frame at which it stopped; all of them if it did
  /// not stop. The next call begins with the bytes that are left, which never are fewer than the frame's header needs,
  /// and takes the walk past that frame.
  std::size_t advance(std::string_view bytes);
  /// Returns the stream of the DATA at which the walk stopped last.
  StreamId stoppedAt() const { return stoppedAt_; }

 private:
  static constexpr std::size_t kHeadBytes = 9;

  /// Takes a frame header, and moves `at` past the payload. Returns false if the walk stops at this frame.
  bool pass(const char* head, std::size_t& at);

  std::size_t next_;                     // bytes of the next call before the next frame header
  std::array<char, kHeadBytes> kept_{};  // the beginning of a frame header
  std::size_t keptSize_ = 0;
  StreamId open_ = 0;  // the stream whose DATA may follow without a stop
  StreamId stoppedAt_ = 0;
};

}  // namespace sluice::http
