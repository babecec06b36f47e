// The regular expression of matches(), which RE2 looks for in linear time.
//
// Immutable; any thread.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/base/result.h"

namespace re2 {
class RE2;
}

namespace sluice::filters {

class ExpressionPattern {
 public:
  /// Errors have config's origin and RE2's message. A pattern that takes too much memory is an error, too.
  static base::Result<ExpressionPattern> compile(std::string_view pattern);
  ExpressionPattern(ExpressionPattern&&) noexcept;
  ExpressionPattern& operator=(ExpressionPattern&&) noexcept;
  ~ExpressionPattern();

  /// Returns true if some part of the text matches.
  bool occursIn(std::string_view text) const;

 private:
  explicit ExpressionPattern(std::unique_ptr<re2::RE2> compiled);

  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace sluice::filters
