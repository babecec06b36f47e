// The places at which the lines of a section of HTTP/1.x end, found sixteen bytes at a time, where the processor can.
//
// They are found for sections in the form that nearly all have: in one piece, without control characters but those of
// the line ends, of at most kMost lines. Any other section is read byte by byte, which also tells what is wrong with
// it. A value; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::http {

class H1LineEnds {
 public:
  static constexpr std::size_t kMost = 64;
  /// No end is found farther from the beginning.
  static constexpr std::size_t kFarthest = 0xFFFF;

  /// Looks for the ends of all lines, up to the empty one that ends the section at the beginning of `bytes`. Returns
  /// false, and knows none, if there is no such section, if it is empty, or if it has another form.
  bool find(std::string_view bytes);

  /// Forgets them.
  void clear() { count_ = 0; }
  bool known() const { return count_ > 0; }
  /// Returns the number of lines before the empty one.
  std::size_t count() const { return count_; }
  /// Returns the place of the CR that ends a line.
  std::size_t operator[](std::size_t line) const { return ends_[line]; }
  /// Returns the size of the section, the empty line included. The ends must be known.
  std::size_t sectionSize() const { return ends_[count_ - 1] + 4U; }

 private:
  std::array<std::uint16_t, kMost> ends_;  // the first count_ are set
  std::size_t count_ = 0;
};

}  // namespace sluice::http
