// Writes a body from its pipe as HTTP/1.x bytes: by length, chunked with trailers, or until the connection ends. The
// same for requests and responses.
//
// Body bytes move by relinking chunks. Owned by a codec; one thread.
#pragma once

#include <cstdint>

#include "proxy/base/byte_queue.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/h1/h1_body_reader.h"

namespace sluice::http {

class H1BodyWriter {
 public:
  enum class Status : std::uint8_t {
    kMore,   // the pipe has nothing more now, or `out` is full
    kDone,   // the whole body is in `out`
    kBroken  // the pipe broke, or holds another number of bytes than was announced: what was sent is no whole body
  };

  /// `length` counts for kLength only.
  void begin(H1Framing framing, std::uint64_t length) {
    framing_ = framing;
    remaining_ = length;
  }
  /// Moves what is there until `out` holds about `limit` bytes; `taken` is how many left the pipe.
  Status write(BodyPipe& pipe, base::ByteQueue& out, std::size_t limit, std::size_t& taken);

 private:
  Status finish(const BodyPipe& pipe, base::ByteQueue& out);

  std::uint64_t remaining_ = 0;
  H1Framing framing_ = H1Framing::kNone;
};

}  // namespace sluice::http
