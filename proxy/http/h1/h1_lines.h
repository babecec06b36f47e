// Walks over the lines of a whole section of HTTP/1.x, a head or trailers, that ends in an empty line (RFC 9112 section
// 2.1): so there is always a CRLF ahead.
//
// Field lines in the form that nearly all have are taken sixteen bytes at a time, where the processor can; every other
// line byte by byte. Both take the same lines. A value in the caller's memory; one thread.
#pragma once

#include <cstddef>
#include <span>

#include "proxy/base/arena.h"
#include "proxy/http/headers.h"

namespace sluice::http {

/// How field lines are read; kBytewise is for processors without SSE2, and for tests that compare the two.
enum class H1LineReading : std::uint8_t { kAtOnce, kBytewise };

class H1Lines {
 public:
  /// As many bytes behind a section may be read and written.
  static constexpr std::size_t kPadding = 16;

  explicit H1Lines(std::span<char> section) : at_(section.data()), end_(section.data() + section.size()) {}

  bool atEmptyLine() const { return at_[0] == '\r' && at_[1] == '\n'; }
  /// Takes the next line without its end. Returns false if a CR in it is not its end.
  bool next(std::span<char>& line);
  /// Takes all lines up to the empty one: adds `count` fields, with names in lower case. Returns nullptr, or why a line
  /// is malformed. Fields whose bytes have all been checked are marked as clean; hygiene checks the others.
  const char* readFields(std::size_t count, base::Arena& arena, Headers& fields,
                         H1LineReading reading = H1LineReading::kAtOnce);

 private:
  /// Takes a line `name: value` of letters, digits and hyphens, and of bytes that are no control characters. Returns
  /// false, and takes nothing, if the line is another one.
  bool takeAtOnce(base::Arena& arena, Headers& fields);
  const char* takeBytewise(base::Arena& arena, Headers& fields);

  char* at_;
  char* end_;
};

}  // namespace sluice::http
