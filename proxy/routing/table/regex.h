// A regular expression in RE2's syntax. It takes linear time whatever the pattern and the text, so no request can make
// routing slow.
//
// Immutable; shared by all workers. Its memory is bounded: the program, and RE2's cache of the texts that it has seen,
// take at most 256 KiB. Bytes are Latin-1, because field values need not be UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "proxy/base/result.h"

namespace re2 {
class RE2;
}

namespace sluice::routing {

class Regex {
 public:
  /// The room for the expressions that one user may write together: instructions of RE2's programs, of which a
  /// character class or a repetition takes some.
  struct Room {
    std::size_t left = kMostInstructions;
  };
  static constexpr std::size_t kMostInstructions = 16 * 1024;

  /// Takes the room of the compiled expression. Errors are those of the configuration, with RE2's explanation. Once an
  /// expression was too large there is no room left, so that a thousand of them cost little more than one.
  static base::Result<Regex> compile(std::string_view pattern, Room& room);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// Returns true if the whole of `text` matches.
  bool matches(std::string_view text) const;

 private:
  explicit Regex(std::unique_ptr<re2::RE2> compiled);
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace sluice::routing
