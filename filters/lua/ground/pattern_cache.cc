#include "filters/lua/ground/pattern_cache.h"

#include <utility>

#include "proxy/content/pattern_fault.h"

namespace sluice::filters::lua {
namespace {

constexpr std::int64_t kScriptPatternMemory = 256 * 1024;

}  // namespace

PatternCache::Pattern PatternCache::find(std::string_view text) {
  for (auto each = patterns_.begin(); each != patterns_.end(); ++each) {
    if ((*each)->pattern() != text) continue;
    patterns_.splice(patterns_.begin(), patterns_, each);
    return patterns_.front();
  }
  return nullptr;
}

base::Result<PatternCache::Pattern> PatternCache::compile(std::string_view text) {
  if (text.size() > kLongest) return base::Error::config("is longer than " + std::to_string(kLongest) + " bytes");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kScriptPatternMemory);
  auto made = std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!made->ok()) return base::Error::config("is no regular expression of RE2: " + content::patternFault(*made));
  if (made->NumberOfCapturingGroups() > kMostGroups) return base::Error::config("has too many groups");
  patterns_.push_front(made);
  if (patterns_.size() > kMost) patterns_.pop_back();
  return Pattern(std::move(made));
}

}  // namespace sluice::filters::lua
