// The regular expressions of one schema, which share a bounded memory.
//
// Immutable once compiled, and then usable on any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace sluice::content {

/// One regular expression, in RE2's syntax or that of pattern_spelling.h.
class SchemaPattern {
 public:
  explicit SchemaPattern(std::string_view text);
  ~SchemaPattern();

  /// Returns why it cannot be compiled within `memory` bytes, or "".
  std::string compile(std::size_t memory);

  const std::string& text() const { return text_; }
  /// Returns how many steps it takes at most to search a text of this size.
  std::size_t stepsFor(std::size_t bytes) const;
  /// Returns true if some part of `text` matches. Takes linear time.
  bool matches(std::string_view text) const;

 private:
  const std::string text_;
  std::unique_ptr<const re2::RE2> compiled_;
};

class SchemaPatterns {
 public:
  /// Returns the pattern of this text, which the schema may have in many places. It is not compiled yet.
  SchemaPattern& add(std::string_view text);
  std::size_t count() const { return patterns_.size(); }
  /// Compiles all. Returns the first pattern that is faulty and sets `fault`, or returns nullptr.
  const SchemaPattern* compile(std::string& fault);

 private:
  std::map<std::string, std::unique_ptr<SchemaPattern>, std::less<>> patterns_;
};

}  // namespace sluice::content
