// Lines for people, each with one fact behind a word that says what the fact is about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::content {

class FactLines {
 public:
  /// Facts begin in that column, or one blank behind a longer word.
  explicit FactLines(std::size_t column) : column_(column) {}

  FactLines& add(std::string_view word, std::string_view fact) {
    text_.append(word).append(word.size() < column_ ? column_ - word.size() : 1, ' ').append(fact).append("\n");
    return *this;
  }

  std::string take() { return std::move(text_); }

 private:
  const std::size_t column_;
  std::string text_;
};

}  // namespace sluice::content
