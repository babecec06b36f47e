// The compiled regular expressions of one state, most recently used first.
//
// RE2 looks for them in linear time. Their memory is not Lua's, so there are few.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::filters::lua {

class PatternCache {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kLongest = 4096;  // bytes of an expression
  static constexpr int kMostGroups = 32;

  using Pattern = std::shared_ptr<const re2::RE2>;

  /// Returns nullptr if the pattern was not compiled yet, or is forgotten.
  Pattern find(std::string_view text);
  /// Compiles a pattern that was not found. Errors have config's origin and RE2's message.
  base::Result<Pattern> compile(std::string_view text);

 private:
  std::list<Pattern> patterns_;
};

}  // namespace sluice::filters::lua
