#include "config/yaml/yaml_scalar.h"

#include <algorithm>

#include "config/ground/patterns.h"

namespace sluice::config {
namespace {

bool isOctalDigit(char c) { return c >= '0' && c <= '7'; }

/// Removes the leading digits. Returns true if there were any.
bool skipDigits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), isDigit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

bool skipSign(std::string_view& text) {
  if (text.empty() || (text.front() != '-' && text.front() != '+')) return false;
  text.remove_prefix(1);
  return true;
}

bool isNumber(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
    return std::all_of(text.begin() + 2, text.end(), text[1] == 'x' ? isHexDigit : isOctalDigit);
  }
  skipSign(text);
  bool digits = skipDigits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits = skipDigits(text) || digits;
  }
  if (!digits) return false;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    skipSign(text);
    if (!skipDigits(text)) return false;
  }
  return text.empty();
}

}  // namespace

Value::Kind plainScalarKind(std::string_view text) {
  for (const std::string_view boolean : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == boolean) return Value::Kind::kBool;
  }
  return isNumber(text) ? Value::Kind::kNumber : Value::Kind::kString;
}

}  // namespace sluice::config
