#include "proxy/http/h2/h2_frame_walk.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice::http {

std::size_t H2FrameWalk::advance(std::string_view bytes) {
  std::size_t at = next_;
  if (keptSize_ > 0) {
    const std::size_t count = std::min(kHeadBytes - keptSize_, bytes.size());
    std::memcpy(kept_.data() + keptSize_, bytes.data(), count);
    keptSize_ += count;
    if (keptSize_ < kHeadBytes) return bytes.size();
    keptSize_ = 0;
    // nghttp2 got the first bytes of this header earlier. It acts only on the last one, so that the walk can still stop
    // before this frame.
    at = count;
    if (!pass(kept_.data(), at)) {
      next_ = at;
      return 0;
    }
  }
  for (std::size_t begin = at; begin + kHeadBytes <= bytes.size(); begin = at) {
    at = begin + kHeadBytes;
    if (!pass(bytes.data() + begin, at)) {
      next_ = at - begin;
      return begin;
    }
  }
  next_ = 0;
  if (at >= bytes.size()) {
    next_ = at - bytes.size();
  } else {
    keptSize_ = bytes.size() - at;
    std::memcpy(kept_.data(), bytes.data() + at, keptSize_);
  }
  return bytes.size();
}

// The first eight bytes of a header are the payload's length, the type, the flags, and the stream but for its last
// byte.
inline bool H2FrameWalk::pass(const char* head, std::size_t& at) {
  constexpr StreamId kIdBits = 0x7fffffff;  // the bit before them is reserved
  std::uint64_t word = 0;
  std::memcpy(&word, head, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  at += word >> 40;
  const auto type = static_cast<std::uint8_t>(word >> 32);
  if (type > NGHTTP2_HEADERS) {
    if (type == NGHTTP2_RST_STREAM) open_ = 0;
    return true;
  }
  const StreamId id = static_cast<StreamId>(word << 8 | static_cast<unsigned char>(head[8])) & kIdBits;
  const bool follows = id == open_;
  open_ = (word >> 24 & NGHTTP2_FLAG_END_STREAM) != 0 ? 0 : id;
  if (type == NGHTTP2_HEADERS || follows) return true;
  stoppedAt_ = id;
  return false;
}

}  // namespace sluice::http
