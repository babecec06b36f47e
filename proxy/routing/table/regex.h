// A regular expression in RE2's syntax. It takes linear time whatever the pattern and the text, so no request can make
// a route stall.
//
// Immutable; shared by all workers. Bytes are Latin-1, because field values need not be UTF-8.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/base/result.h"

namespace re2 {
class RE2;
}

namespace sluice::routing {

class Regex {
 public:
  /// Errors are those of the configuration, with RE2's explanation.
  static base::Result<Regex> compile(std::string_view pattern);
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
