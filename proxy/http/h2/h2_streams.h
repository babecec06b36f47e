// The streams of one HTTP/2 connection: newest first, and found by their id.
//
// nghttp2 carries a pointer to each H2Stream, so finding one needs no table here. Streams live in the worker's
// H2Memory. Owned by the connection; one thread.
#pragma once

#include <cstddef>

#include "proxy/http/h2/h2_memory.h"
#include "proxy/http/h2/h2_stream.h"

struct nghttp2_session;

namespace sluice::http {

class H2Streams {
 public:
  explicit H2Streams(H2Memory& memory) : memory_(memory) {}
  H2Streams(const H2Streams&) = delete;
  H2Streams& operator=(const H2Streams&) = delete;
  ~H2Streams();

  /// Returns nullptr if the connection has no such stream.
  H2Stream* find(const nghttp2_session* library, StreamId id) {
    if (recent_ == nullptr || recent_->id != id) recent_ = lookUp(library, id);
    return recent_;
  }
  /// `id` is 0 for a request that nghttp2 has not named yet.
  H2Stream& add(StreamId id);
  void remove(H2Stream& stream);
  /// Returns the first stream of the list; nullptr if there is none. The others follow by H2Stream::next.
  H2Stream* newest() const { return newest_; }
  std::size_t count() const { return count_; }

 private:
  H2Stream* lookUp(const nghttp2_session* library, StreamId id) const;

  H2Memory& memory_;
  H2Stream* newest_ = nullptr;
  H2Stream* recent_ = nullptr;  // found last: events of one stream mostly come together
  std::size_t count_ = 0;
};

}  // namespace sluice::http
