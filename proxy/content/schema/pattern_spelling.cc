#include "proxy/content/schema/pattern_spelling.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice::content {
namespace {

/// The general categories of Unicode, of which RE2 knows the short names.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"Format", "Cf"},
};

bool isHex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

/// Returns the text between the braces that `text` begins with; empty if there are none.
std::string_view braced(std::string_view text) {
  const std::size_t end = text.find('}');
  return text.starts_with('{') && end != std::string_view::npos ? text.substr(1, end - 1) : std::string_view();
}

/// Rewrites the escape that `text` begins with, and sets how many bytes it takes.
std::string spelledEscape(std::string_view text, std::size_t& bytes) {
  const char kind = text.size() > 1 ? text[1] : '\0';
  const std::string_view rest = text.substr(std::min<std::size_t>(2, text.size()));
  const std::string_view name = braced(rest);
  if (kind == 'u' && isHex(name)) {
    bytes = name.size() + 4;
    return "\\x{" + std::string(name) + "}";
  }
  if (kind == 'u' && rest.size() >= 4 && isHex(rest.substr(0, 4))) {
    bytes = 6;
    return "\\x{" + std::string(rest.substr(0, 4)) + "}";
  }
  const auto* category = std::find_if(std::begin(kCategories), std::end(kCategories),
                                      [&](const auto& each) { return each.first == name; });
  if ((kind == 'p' || kind == 'P') && category != std::end(kCategories)) {
    bytes = name.size() + 4;
    return "\\" + std::string(1, kind) + "{" + std::string(category->second) + "}";
  }
  bytes = std::min<std::size_t>(2, text.size());
  return std::string(text.substr(0, bytes));
}

}  // namespace

std::string spelledForRe2(std::string_view pattern) {
  std::string spelled;
  while (!pattern.empty()) {
    std::size_t bytes = std::min(pattern.find('\\'), pattern.size());
    if (bytes > 0) {
      spelled += pattern.substr(0, bytes);
    } else {
      spelled += spelledEscape(pattern, bytes);
    }
    pattern.remove_prefix(bytes);
  }
  return spelled;
}

}  // namespace sluice::content
