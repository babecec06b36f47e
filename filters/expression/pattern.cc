#include "filters/expression/pattern.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "proxy/content/pattern_fault.h"

namespace sluice::filters {

ExpressionPattern::ExpressionPattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

bool ExpressionPattern::occursIn(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

std::uint64_t ExpressionPattern::stepsFor(std::size_t bytes) const {
  return static_cast<std::uint64_t>(compiled_->ProgramSize()) * bytes;
}

base::Result<ExpressionPattern> ExpressionPatterns::compile(std::string_view pattern) {
  if (const auto known = patterns_.find(pattern); known != patterns_.end()) return known->second;
  if (patterns_.size() == kMost) {
    return base::Error::config("is one of more than " + std::to_string(kMost) + " different ones of the use");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok())
    return base::Error::config("is no regular expression of RE2: " + content::patternFault(*compiled));
  const std::uint64_t most = bounds_.steps / bounds_.headBytes;
  if (static_cast<std::uint64_t>(compiled->ProgramSize()) > most) {
    return base::Error::config("has " + std::to_string(compiled->ProgramSize()) + " instructions of RE2, and " +
                               std::to_string(most) + " may look at a head of " + std::to_string(bounds_.headBytes) +
                               " bytes (limits.stepWork)");
  }
  return patterns_.emplace(std::string(pattern), ExpressionPattern(std::move(compiled))).first->second;
}

}  // namespace sluice::filters
