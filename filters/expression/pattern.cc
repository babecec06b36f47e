#include "filters/expression/pattern.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "proxy/content/pattern_fault.h"

namespace sluice::filters {
namespace {

constexpr std::int64_t kPatternMemory = 1024 * 1024;

}  // namespace

base::Result<ExpressionPattern> ExpressionPattern::compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok())
    return base::Error::config("is no regular expression of RE2: " + content::patternFault(*compiled));
  return ExpressionPattern(std::move(compiled));
}

ExpressionPattern::ExpressionPattern(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
ExpressionPattern::ExpressionPattern(ExpressionPattern&&) noexcept = default;
ExpressionPattern& ExpressionPattern::operator=(ExpressionPattern&&) noexcept = default;
ExpressionPattern::~ExpressionPattern() = default;

bool ExpressionPattern::occursIn(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace sluice::filters
