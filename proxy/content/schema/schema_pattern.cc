#include "proxy/content/schema/schema_pattern.h"

#include <re2/re2.h>

#include <algorithm>

#include "proxy/content/pattern_fault.h"
#include "proxy/content/schema/pattern_spelling.h"
#include "proxy/content/schema/schema_bounds.h"

namespace sluice::content {

SchemaPattern::SchemaPattern(std::string_view text) : text_(text) {}
SchemaPattern::~SchemaPattern() = default;

std::string SchemaPattern::compile(std::size_t memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<std::int64_t>(memory));
  compiled_ = std::make_unique<const re2::RE2>(spelledForRe2(text_), options);
  return compiled_->ok() ? "" : "is not a regular expression of RE2: " + patternFault(*compiled_);
}

// A search that runs out of memory for its tables looks at the whole program for each byte.
std::size_t SchemaPattern::stepsFor(std::size_t bytes) const {
  return 1 + bytes * static_cast<std::size_t>(compiled_->ProgramSize()) / 64;
}

bool SchemaPattern::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

SchemaPattern& SchemaPatterns::add(std::string_view text) {
  auto found = patterns_.find(text);
  if (found == patterns_.end()) {
    found = patterns_.emplace(std::string(text), std::make_unique<SchemaPattern>(text)).first;
  }
  return *found->second;
}

const SchemaPattern* SchemaPatterns::compile(std::string& fault) {
  if (patterns_.empty()) return nullptr;
  const std::size_t memory = std::min(kMaxPatternMemory, kSchemaPatternMemory / patterns_.size());
  for (const auto& [text, pattern] : patterns_) {
    fault = pattern->compile(memory);
    if (!fault.empty()) return pattern.get();
  }
  return nullptr;
}

}  // namespace sluice::content
