// Bounds what the YAML parser has read ahead of the last value that it passed on.
//
// The parser hands on nothing of a collection in brackets before it has read all of it, because the whole might be a
// key. Until then it keeps about a hundred bytes for each token, and the bounds on depth and values see none of them.
// So tokens are counted by their characters before the parser gets them. Where a text is JSON from its beginning,
// characters within strings do not count. Elsewhere they count wherever they stand, because only the parser knows what
// is a string; a scalar of 1 MiB, the most that an object may hold, stays below the bound whatever is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::config {

class Lookahead {
 public:
  /// A value of a map takes 3 tokens, and one of a list 4 at most.
  explicit Lookahead(std::size_t maxTokens) : maxHalfTokens_(2 * maxTokens) {}

  /// Counts the characters that the parser gets next. Returns the place of the first one that is too many, or npos.
  std::size_t take(std::string_view text);
  /// Called when the parser passes a value on: it has forgotten the tokens before it.
  void passOn() { halfTokens_ = 0; }

 private:
  /// The part of a JSON text that comes next; kNone for everything from the first character on that is not JSON, or
  /// that YAML might read in another way.
  enum class JsonPart : std::uint8_t { kBetween, kString, kEscaped, kNone };

  /// Returns true if the character is within a string of JSON.
  bool isInString(char c);
  JsonPart partAfter(char c) const;

  const std::size_t maxHalfTokens_;
  std::size_t halfTokens_ = 0;
  JsonPart json_ = JsonPart::kBetween;
  char before_ = '\0';     // the last character outside of strings that is no space
  std::size_t depth_ = 0;  // of brackets, while the text is JSON
};

}  // namespace sluice::config
