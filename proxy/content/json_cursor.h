// Goes through JSON text (RFC 8259) by offsets and builds nothing: for whoever has to know where in a text a value
// stands, so that the rest of it can stay as it is.
//
// Lives for one reading; the text outlives it. As strict as parseJson() but for what does not move anything: the
// encoding inside of strings, halves of surrogate pairs there, and names that stand twice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::content {

class JsonCursor {
 public:
  /// Nothing is read that stands in more than `mostDepth` lists and maps. A byte order mark at the beginning is
  /// skipped.
  JsonCursor(std::string_view text, std::size_t mostDepth);

  /// Where the next byte stands that is no space; the size of the text if there is none.
  std::size_t next();
  /// That byte; NUL if there is none.
  char peek() { return next() < text_.size() ? text_[at_] : '\0'; }
  /// Where reading has stopped: right behind what was taken last.
  std::size_t at() const { return at_; }

  /// Each takes one thing, with spaces before it. False or nothing, without going on, if something else stands there.
  bool take(char punctuation);
  /// The begin of a map or list, or the end of the one that is open: counts their depth.
  bool open(char bracket);
  bool close(char bracket);
  /// A string, with its escapes undone.
  std::optional<std::string> takeString();
  /// A value of any kind, whole.
  bool skipValue();

 private:
  bool skipContainer(char closing);
  bool skipNumber();
  bool skipDigits();
  bool skipWord(std::string_view word);
  /// Either adds the text to `out` or, if that is null, does without.
  bool readString(std::string* out);
  bool readEscape(std::string* out);
  std::optional<unsigned> takeHex();

  const std::string_view text_;
  const std::size_t mostDepth_;
  std::size_t depth_ = 0;
  std::size_t at_ = 0;
};

}  // namespace sluice::content
