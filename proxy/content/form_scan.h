// Finds the value of one field of a form (multipart/form-data, RFC 7578) while the form arrives, in pieces that are cut
// anywhere, and keeps nothing of the form but that value and the header of the part that has begun.
//
// Owned by one reading; one thread; sans-IO. A server may read a form in another way than this scan, so forms are
// refused that are not as clients write them: with bytes in front of the first part or behind the last one, line ends
// without CR, a boundary that a line only begins with, or a name that may be read in two ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/content/json_scan.h"

namespace sluice::content {

class FormScan {
 public:
  /// The most bytes of a boundary (RFC 2046 section 5.1.1), and of the header of a part.
  static constexpr std::size_t kMostBoundary = 70;
  static constexpr std::size_t kMostHeader = std::size_t{8} * 1024;

  /// Returns the boundary that a Content-Type names; empty if it names none that is valid, or two.
  static std::string boundaryOf(std::string_view contentType);

  /// `boundary` is one of boundaryOf(). At most `mostText` bytes of the field's value are kept. `field` outlives the
  /// scan.
  FormScan(std::string_view boundary, std::string_view field, std::size_t mostText);

  /// Takes the next piece. Returns false, from then on, if no form begins like this.
  bool feed(std::string_view piece);
  /// Returns true if the form is complete.
  bool end() const { return state_ == State::kEpilogue; }
  /// Returns true if the value has begun and not ended.
  bool isInside() const { return wanted_; }
  /// Returns the value, as a string; null if the field has not occurred so far.
  const FoundJson* found() const { return found_ ? &*found_ : nullptr; }

  /// Returns the bytes in use beyond its own size and the value.
  std::size_t memory() const { return delimiter_.capacity() + header_.capacity(); }

 private:
  enum class State : std::uint8_t {
    kFirstDelimiter,  // at the beginning of the form
    kAfterDelimiter,  // "--" ends the form, a line end begins a part
    kHeader,
    kContent,
    kEpilogue,
    kFailed
  };
  /// How many bytes of the delimiter precede its hyphens: the end of a line.
  static constexpr std::size_t kLineEnd = 1;

  // Each of these takes the bytes it can between `at` and `end` and returns where it stopped; null if this is no form.
  const char* take(const char* at, const char* end);
  const char* takeFirstDelimiter(const char* at, const char* end);
  const char* takeAfterDelimiter(const char* at);
  const char* takeHeader(const char* at, const char* end);
  const char* takeContent(const char* at, const char* end);
  const char* takeEpilogue(const char* at, const char* end) const;

  bool beginPart();
  bool endPart();
  void put(std::string_view bytes);

  std::string delimiter_;  // LF, two hyphens and the boundary
  const std::string_view field_;
  const std::size_t mostText_;
  State state_ = State::kFirstDelimiter;
  std::size_t matched_ = kLineEnd;  // how many bytes of the delimiter have arrived
  bool afterReturn_ = false;        // a CR precedes the LF of the delimiter
  bool atBeginning_ = false;        // the delimiter would begin with the line end behind the header
  char last_ = '\0';     // the byte of the content that has arrived last; in kAfterDelimiter the first of two
  bool wanted_ = false;  // the part that has begun is the field
  std::string header_;   // of the part that has begun
  std::optional<FoundJson> found_;
};

}  // namespace sluice::content
