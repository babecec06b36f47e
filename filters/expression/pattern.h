// The regular expressions of matches(), which RE2 looks for in linear time: at worst it lets each instruction of the
// pattern's program look at each byte.
//
// A pattern is immutable; any thread. The set of one use's patterns belongs to the loading thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/processing/factory.h"

namespace re2 {
class RE2;
}

namespace sluice::filters {

class ExpressionPattern {
 public:
  /// Returns true if some part of the text matches.
  bool occursIn(std::string_view text) const;
  /// Returns the steps that the search of a text of that size takes at most.
  std::uint64_t stepsFor(std::size_t bytes) const;

 private:
  friend class ExpressionPatterns;
  explicit ExpressionPattern(std::shared_ptr<const re2::RE2> compiled);

  std::shared_ptr<const re2::RE2> compiled_;
};

/// Compiles the patterns of one use. Equal ones share their memory.
class ExpressionPatterns {
 public:
  /// The different patterns of one use.
  static constexpr std::size_t kMost = 64;
  /// The bytes of each, with the states that RE2 keeps of the texts that it has seen.
  static constexpr std::int64_t kMostMemory = std::int64_t{128} * 1024;

  explicit ExpressionPatterns(const processing::WorkBounds& bounds) : bounds_(bounds) {}

  /// Errors have config's origin and RE2's message. A pattern is refused, too, if it takes too much memory, or if the
  /// search of the longest text of a head may take more than limits.stepWork.
  base::Result<ExpressionPattern> compile(std::string_view pattern);

 private:
  const processing::WorkBounds bounds_;
  std::map<std::string, ExpressionPattern, std::less<>> patterns_;
};

}  // namespace sluice::filters
