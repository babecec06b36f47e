// Goes through JSON text (RFC 8259) by offsets and builds nothing: for callers that must know the position of a value
// in a text, to leave the rest of the text unchanged.
//
// Lives for one reading; the text outlives it. As strict as parseJson(), except for three checks that do not affect
// positions: the encoding inside strings, halves of surrogate pairs there, and duplicate names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::content {

class JsonCursor {
 public:
  /// Values inside more than `mostDepth` lists and maps are refused. A byte order mark at the beginning is skipped.
  JsonCursor(std::string_view text, std::size_t mostDepth);

  /// Returns the offset of the next byte that is no space; the size of the text if there is none.
  std::size_t next();
  /// Returns that byte; NUL if there is none.
  char peek() { return next() < text_.size() ? text_[at_] : '\0'; }
  /// Returns the current offset, right behind the last thing taken.
  std::size_t at() const { return at_; }

  /// Each of these takes one token and the spaces before it. Returns false or nothing, without moving, if something
  /// else follows.
  bool take(char punctuation);
  /// Takes the begin of a map or list, or the end of the open one, and counts their depth.
  bool open(char bracket);
  bool close(char bracket);
  /// Takes a string and returns it without its escapes.
  std::optional<std::string> takeString();
  /// Skips a whole value of any kind.
  bool skipValue();

 private:
  bool skipContainer(char closing);
  bool skipNumber();
  bool skipDigits();
  bool skipWord(std::string_view word);
  /// Each of these appends the text to `out` unless that is null.
  bool readString(std::string* out);
  bool readEscape(std::string* out);
  std::optional<unsigned> takeHex();

  const std::string_view text_;
  const std::size_t mostDepth_;
  std::size_t depth_ = 0;
  std::size_t at_ = 0;
};

}  // namespace sluice::content
