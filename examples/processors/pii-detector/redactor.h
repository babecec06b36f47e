// Redacts a text that comes in pieces. What it finds does not depend on where the pieces end, nor on whether characters
// are written as escapes of JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "settings.h"

namespace pii {

class Redactor {
 public:
  explicit Redactor(const Settings& settings) : settings_(settings) {}

  /// Takes the next piece, and returns the text that may go on. The end of the text is held back until its rest has
  /// come, because a finding may lie across two pieces.
  std::string take(std::string_view piece, bool last);

 private:
  void read(bool last);
  /// Appends what stands in for the `size` characters from `at` on, which are written as `written`.
  void replace(std::string_view kind, std::size_t at, std::size_t size, std::string_view written,
               std::string& out) const;

  const Settings& settings_;
  std::string held_;                  // the text as it was written
  std::string shown_;                 // the characters that the first bytes of it stand for
  std::vector<unsigned char> sizes_;  // how many bytes each of them takes in held_
  std::size_t read_ = 0;              // how many bytes of held_ they take together
  char before_ = '\0';                // the character in front of them
};

}  // namespace pii
