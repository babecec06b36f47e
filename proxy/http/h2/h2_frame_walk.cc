#include "proxy/http/h2/h2_frame_walk.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::http {

std::size_t H2FrameWalk::advance(std::string_view bytes) {
  std::size_t at = std::exchange(ahead_, 0);
  for (;;) {
    const std::size_t payload = std::min(left_, bytes.size() - at);
    left_ -= payload;
    at += payload;
    if (at == bytes.size()) return at;
    // nghttp2 has the beginning of a header that an earlier call brought, and acts on the last byte of it.
    const std::size_t begin = headSize_ == 0 ? at : 0;
    const std::size_t count = std::min(kHeadBytes - headSize_, bytes.size() - at);
    const auto* head = reinterpret_cast<const unsigned char*>(bytes.data()) + at;
    at += count;
    if (count < kHeadBytes) {
      std::memcpy(head_.data() + headSize_, head, count);
      headSize_ += count;
      if (headSize_ < kHeadBytes) return at;
      headSize_ = 0;
      head = head_.data();
    }
    if (!take(head)) continue;
    ahead_ = at - begin;
    return begin;
  }
}

bool H2FrameWalk::take(const unsigned char* head) {
  left_ = std::size_t{head[0]} << 16 | std::size_t{head[1]} << 8 | head[2];
  const unsigned char type = head[3];
  if (type > NGHTTP2_HEADERS) {
    if (type == NGHTTP2_RST_STREAM) open_ = 0;
    return false;
  }
  constexpr StreamId kIdBits = 0x7fffffff;  // the bit before them is reserved
  const StreamId id =
      (StreamId{head[5]} << 24 | StreamId{head[6]} << 16 | StreamId{head[7]} << 8 | StreamId{head[8]}) & kIdBits;
  const bool follows = id == open_;
  open_ = (head[4] & NGHTTP2_FLAG_END_STREAM) != 0 ? 0 : id;
  if (type == NGHTTP2_HEADERS || follows) return false;
  stoppedAt_ = id;
  return true;
}

}  // namespace sluice::http
