// Walks over the lines of a whole section of HTTP/1.x, a head or trailers, that ends in an empty line (RFC 9112 section
// 2.1): so there is always a CRLF ahead.
//
// If the ends of the lines are known, names are turned into lower case sixteen bytes at a time, and no value is looked
// at again. All other lines are read byte by byte. Both take the same lines. A value in the caller's memory; one
// thread.
#pragma once

#include <cstddef>
#include <span>

#include "proxy/base/arena.h"
#include "proxy/http/h1/h1_line_ends.h"
#include "proxy/http/headers.h"

namespace sluice::http {

class H1Lines {
 public:
  /// As many bytes behind a section may be read and written.
  static constexpr std::size_t kPadding = 16;

  /// `ends` are those of this section, or are not known; they outlive this object.
  H1Lines(std::span<char> section, const H1LineEnds& ends)
      : section_(section.data()), at_(section.data()), end_(section.data() + section.size()), ends_(ends) {}

  /// Takes the next line without its end. Returns false if a CR in it is not its end.
  bool next(std::span<char>& line);
  /// Takes all lines up to the empty one: adds `count` fields, with names in lower case. Returns nullptr, or why a line
  /// is malformed. Fields whose bytes have all been checked are marked as clean; hygiene checks the others.
  const char* readFields(std::size_t count, base::Arena& arena, Headers& fields);

 private:
  bool atEmptyLine() const { return at_[0] == '\r' && at_[1] == '\n'; }
  /// Takes a line `name: value` of letters, digits and hyphens, and of bytes that are no control characters, which ends
  /// at `stop`. Returns false, and takes nothing, if the line is another one.
  bool takeAtOnce(char* stop, base::Arena& arena, Headers& fields);
  const char* takeBytewise(std::span<char> line, base::Arena& arena, Headers& fields);

  char* const section_;
  char* at_;
  char* const end_;
  const H1LineEnds& ends_;
  std::size_t line_ = 0;  // the next one, if the ends are known
};

}  // namespace sluice::http
