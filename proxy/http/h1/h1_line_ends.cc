#include "proxy/http/h1/h1_line_ends.h"

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::http {

#if defined(__SSE2__)
namespace {

constexpr std::size_t kHalf = sizeof(__m128i);
constexpr std::size_t kWhole = 2 * kHalf;

// Returns a bit for each of sixteen bytes: 1 for a control character.
std::uint32_t controlsOfHalf(const char* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i found = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(found));
}

// The same for 32 bytes.
std::uint32_t controlsOf(const char* from) { return controlsOfHalf(from) | controlsOfHalf(from + kHalf) << kHalf; }

// The same for the bytes from `at` on, 32 of them or as many as there are. The text has at least sixteen bytes.
std::uint32_t controlsAt(std::string_view text, std::size_t at) {
  const char* const end = text.data() + text.size();
  if (text.size() - at >= kWhole) return controlsOf(text.data() + at);
  if (text.size() >= kWhole) return controlsOf(end - kWhole) >> (kWhole - (text.size() - at));
  return controlsOfHalf(text.data()) | controlsOfHalf(end - kHalf) << (text.size() - kHalf);
}

bool isLineEnd(const char* at) { return at[0] == '\r' && at[1] == '\n'; }

}  // namespace

bool H1LineEnds::find(std::string_view bytes) {
  count_ = 0;
  if (bytes.size() < kHalf) return false;
  // The last byte may be a CR whose LF has not come.
  const std::string_view text = bytes.substr(0, kFarthest);
  const std::size_t last = text.size() - 1;
  std::size_t count = 0;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size(); at += kWhole) {
    std::uint32_t controls = controlsAt(text, at);
    if (line > at) controls &= ~1U;  // the LF of a line that ends in the block before
    while (controls != 0) {
      const std::size_t end = at + static_cast<std::size_t>(std::countr_zero(controls));
      if (end == last || !isLineEnd(text.data() + end)) return false;
      if (end == line) {
        count_ = count;
        return count > 0;
      }
      if (count == kMost) return false;
      ends_[count++] = static_cast<std::uint16_t>(end);
      line = end + 2;
      controls &= controls - 1;
      controls &= controls - 1;
    }
  }
  return false;
}

#else

bool H1LineEnds::find(std::string_view /*bytes*/) { return false; }

#endif

}  // namespace sluice::http
