// Limits how far the YAML parser may read ahead of the last value that it passed on.
//
// The parser passes on no part of a collection in brackets before it has read all of it, because the collection might
// be a key. Until then it keeps about a hundred bytes for each token, and the limits of depth and values have no effect
// on them. So the characters of tokens are counted before the parser gets them. If a text is JSON from its beginning,
// characters within strings are not counted. In any other text, all characters are counted, because only the parser
// knows where strings are. Even then, a scalar of 1 MiB, the most that an object may contain, stays below the limit
// whatever its characters are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::config {

class Lookahead {
 public:
  /// A value in a map takes 3 tokens, and a value in a list at most 4.
  explicit Lookahead(std::size_t maxTokens) : maxHalfTokens_(2 * maxTokens) {}

  /// Counts the characters that the parser gets next. Returns the position of the first one that exceeds the limit, or
  /// npos.
  std::size_t take(std::string_view text);
  /// Called when the parser passes on a value. It has then freed the tokens before the value.
  void passOn() { halfTokens_ = 0; }

 private:
  /// The expected part of a JSON text. It is kNone from the first character on that is not JSON, or that YAML might
  /// read in another way.
  enum class JsonPart : std::uint8_t { kBetween, kString, kEscaped, kNone };

  /// Returns true if the character is within a string of JSON.
  bool isInString(char c);
  JsonPart partAfter(char c) const;

  const std::size_t maxHalfTokens_;
  std::size_t halfTokens_ = 0;
  JsonPart json_ = JsonPart::kBetween;
  char before_ = '\0';     // the last character outside of strings that is not a space
  std::size_t depth_ = 0;  // nesting of brackets, while the text is JSON
};

}  // namespace sluice::config
