// Reads the body of an HTTP/1.x message out of a connection's bytes: by length, chunked with trailers, or until the
// connection ends (RFC 9112 section 6), and never delivers more than was granted. Requests and responses are read
// alike.
//
// Holds no bytes but an unfinished trailer section (in the section reader that it is given). Owned by a codec; one
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/h1/h1_chunked.h"
#include "proxy/http/h1/h1_parser.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// The way in which the end of a body is found.
enum class H1Framing : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

/// Returns the part of the whole window that is not granted when a body begins.
inline std::size_t withheldOfWindow(const MessageBounds& limits) {
  return limits.streamWindow - std::min(limits.firstWindow, limits.streamWindow);
}

class H1BodyReader {
 public:
  enum class Status : std::uint8_t {
    kNeedMore,  // all input was taken
    kBlocked,   // there is no credit for the bytes at the front of the input
    kData,      // `data` holds the next run
    kEnd,       // kChunked: the body is complete; `trailers` holds the trailer fields that may be passed on, if any
    kFailed     // `fault` has the reason
  };
  struct BodyStep {
    Status status = Status::kNeedMore;
    std::string_view data;
    std::optional<Trailers> trailers;
    H1Fault fault;
  };

  /// `length` is used for kLength only, and is more than 0. Not to be called for kNone.
  void begin(H1Framing framing, std::uint64_t length, const MessageBounds& limits);
  /// Takes the next step's bytes from the front of `input`, which is not empty.
  BodyStep next(std::string_view& input, H1SectionReader& sections, base::ChunkPool& pool);
  /// Returns true if the run that was delivered last is the end of a kLength body.
  bool complete() const { return framing_ == H1Framing::kLength && remaining_ == 0; }
  /// Returns true if the body may end in the next `count` bytes. The end of a chunked body is found only by reading it,
  /// so it is never assumed.
  bool mayEndWithin(std::uint64_t count) const { return framing_ == H1Framing::kLength && remaining_ <= count; }
  void grant(std::size_t count) { credit_ += count; }
  std::size_t credit() const { return credit_; }
  H1Framing framing() const { return framing_; }

 private:
  BodyStep nextRun(std::string_view& input);
  BodyStep nextOfChunks(std::string_view& input, H1SectionReader& sections);
  BodyStep nextOfTrailers(std::string_view& input, H1SectionReader& sections, base::ChunkPool& pool);

  std::uint64_t remaining_ = 0;  // of a kLength body
  std::size_t credit_ = 0;
  H1ChunkDecoder chunks_;
  H1Framing framing_ = H1Framing::kNone;
  bool inTrailers_ = false;
};

}  // namespace sluice::http
