#include "proxy/content/pattern_fault.h"

#include <re2/re2.h>

#include <string_view>

namespace sluice::content {
namespace {

/// Returns the feature that begins with this text, such as "(?!"; empty if it is another fault.
std::string_view missingFeature(std::string_view text) {
  if (text.starts_with("(?=") || text.starts_with("(?!")) return "look-ahead";
  if (text == "(?<" || text.starts_with("(?<=") || text.starts_with("(?<!")) return "look-behind";
  if (text.size() == 2 && text[0] == '\\' && text[1] >= '1' && text[1] <= '9') return "back-references";
  return {};
}

}  // namespace

std::string patternFault(const re2::RE2& refused) {
  const std::string_view feature = missingFeature(refused.error_arg());
  return feature.empty() ? refused.error() : "RE2 has no " + std::string(feature) + ": " + refused.error_arg();
}

}  // namespace sluice::content
