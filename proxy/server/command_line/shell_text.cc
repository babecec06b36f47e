#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {

std::string joinedBy(std::string_view separator, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::string singleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string marked(std::string_view text, std::string_view special, char mark) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += mark;
    result += c;
  }
  return result;
}

}  // namespace sluice::server
