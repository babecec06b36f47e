// Walks over the lines of a whole section of HTTP/1.x, a head or trailers, that ends in an empty line (RFC 9112 section
// 2.1): so there is always a CRLF ahead.
//
// The section stays as it came: names in lower case are put behind it, so that HTTP/1.x can pass them on in their own
// case. If the ends of the lines are known, that happens sixteen bytes at a time, and no value is looked at again. All
// other lines are read byte by byte. Both take the same lines. A value in the caller's memory; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/h1/h1_line_ends.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// The messages of which sections are read. In responses, spaces between a name and its colon are left out, as a proxy
/// must (RFC 9112 section 5.1); such a request is refused.
enum class H1Messages : std::uint8_t { kRequests, kResponses };

class H1Lines {
 public:
  /// As many bytes right behind a section may be read.
  static constexpr std::size_t kPadding = 16;
  /// Returns how many bytes must be free behind a section of that size: the padding, and room for names.
  static constexpr std::size_t roomBehind(std::size_t sectionSize, std::size_t fieldLines) {
    return kPadding + std::min(sectionSize, fieldLines * kNameRoom) + kNameRoom;
  }

  /// `ends` are those of this section, or are not known; they outlive this object.
  H1Lines(std::span<char> section, const H1LineEnds& ends, H1Messages messages)
      : section_(section.data()),
        at_(section.data()),
        end_(section.data() + section.size()),
        names_(section.data() + section.size() + kPadding),
        ends_(ends),
        messages_(messages) {}

  /// Takes the next line without its end. Returns false if a CR in it is not its end.
  bool next(std::span<char>& line);
  /// Takes all lines up to the empty one: adds `count` fields, with names in lower case. Returns nullptr, or why a line
  /// is malformed. Fields whose bytes have all been checked are marked as clean; hygiene checks the others.
  const char* readFields(std::size_t count, base::Arena& arena, Headers& fields);

 private:
  /// Longer names have no room behind the section, but in the arena.
  static constexpr std::size_t kNameRoom = 32;

  bool atEmptyLine() const { return at_[0] == '\r' && at_[1] == '\n'; }
  /// Takes a line `name: value` of letters, digits and hyphens, and of bytes that are no control characters, which ends
  /// at `stop`. Returns false, and takes nothing, if the line is another one.
  bool takeAtOnce(char* stop, base::Arena& arena, Headers& fields);
  const char* takeBytewise(std::span<char> line, base::Arena& arena, Headers& fields);

  /// Returns room for a name of that size in lower case, and tells how far the name itself lies before it.
  char* roomFor(std::string_view name, base::Arena& arena, std::uint32_t& toReceived);

  char* const section_;
  char* at_;
  char* const end_;
  char* names_;  // where the next name goes
  const H1LineEnds& ends_;
  const H1Messages messages_;
  std::size_t line_ = 0;  // the next one, if the ends are known
};

}  // namespace sluice::http
