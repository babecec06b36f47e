#include "filters/body_path.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::filters {
namespace {

using base::Error;

/// Parses a decimal number without leading zeros (RFC 6901 section 4, RFC 9535 section 2.3.3.1).
std::optional<std::int32_t> indexFrom(std::string_view text, bool mayBeNegative) {
  std::string_view digits = text;
  if (mayBeNegative && digits.starts_with('-')) digits.remove_prefix(1);
  const bool decimal = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits.empty() || !decimal || (digits.front() == '0' && text.size() > 1)) return std::nullopt;
  std::int32_t index = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
  return read.ec == std::errc() ? std::optional(index) : std::nullopt;
}

std::optional<std::string> unescapedToken(std::string_view token) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      name += token[i];
      continue;
    }
    const char next = ++i < token.size() ? token[i] : '\0';
    if (next != '0' && next != '1') return std::nullopt;
    name += next == '0' ? '~' : '/';
  }
  return name;
}

/// Takes a quoted name with its quotes off `rest`; only the quote and the backslash can be escaped.
std::optional<std::string> takeQuoted(std::string_view& rest) {
  const char quote = rest.front();
  std::string name;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote) {
      rest.remove_prefix(i + 1);
      return name;
    }
    if (rest[i] == '\\' && (++i == rest.size() || (rest[i] != quote && rest[i] != '\\'))) return std::nullopt;
    name += rest[i];
  }
  return std::nullopt;
}

bool isNameCharacter(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
  return letter || (!first && c >= '0' && c <= '9');
}

/// Takes the name behind a dot off `rest`; empty if there is none.
std::string takeShorthand(std::string_view& rest) {
  std::size_t size = 0;
  while (size < rest.size() && isNameCharacter(rest[size], size == 0)) ++size;
  std::string name(rest.substr(0, size));
  rest.remove_prefix(size);
  return name;
}

Error faultAt(std::size_t position, std::string_view what) {
  return Error::config("at character " + std::to_string(position + 1) + ": " + std::string(what));
}

}  // namespace

base::Result<BodyPath> BodyPath::fromPointer(std::string_view text) {
  BodyPath path;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t at = text.size() - rest.size();
    if (rest.front() != '/') return faultAt(at, "a JSON Pointer begins with \"/\"");
    rest.remove_prefix(1);
    const std::string_view token = rest.substr(0, rest.find('/'));
    auto name = unescapedToken(token);
    if (!name) return faultAt(at, "\"~\" stands before 0 or 1");
    if (path.steps_.size() == kMostSteps) return faultAt(at, "is too deep");
    path.steps_.push_back({std::move(name), indexFrom(token, false)});
    rest.remove_prefix(token.size());
  }
  return path;
}

base::Result<BodyPath> BodyPath::fromJsonPath(std::string_view text) {
  if (!text.starts_with('$')) return faultAt(0, "a JSONPath begins with \"$\"");
  BodyPath path;
  std::string_view rest = text.substr(1);
  while (!rest.empty()) {
    const std::size_t at = text.size() - rest.size();
    if (path.steps_.size() == kMostSteps) return faultAt(at, "is too deep");
    const bool bracket = rest.front() == '[';
    if (!bracket && rest.front() != '.') return faultAt(at, "neither \".\" nor \"[\"");
    rest.remove_prefix(1);
    if (!bracket) {
      std::string name = takeShorthand(rest);
      if (name.empty()) return faultAt(at, "no name follows; one value can be asked for, by names and indices");
      path.steps_.push_back({std::move(name), {}});
      continue;
    }
    content::JsonStep step;
    if (rest.starts_with('\'') || rest.starts_with('"')) {
      step.name = takeQuoted(rest);
    } else {
      const std::string_view digits = rest.substr(0, rest.find(']'));
      step.index = indexFrom(digits, true);
      rest.remove_prefix(digits.size());
    }
    if (step.index && *step.index < -content::JsonScan::kMostFromEnd) return faultAt(at, "counts too far from the end");
    if (!step.name && !step.index) return faultAt(at, "neither a quoted name nor an index");
    if (!rest.starts_with(']')) return faultAt(at, "\"]\" is missing");
    rest.remove_prefix(1);
    path.steps_.push_back(std::move(step));
  }
  return path;
}

}  // namespace sluice::filters
