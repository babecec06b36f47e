#include "proxy/base/text.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sluice::base {
namespace {

constexpr std::size_t kQuotedBytes = 80;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Bytes of the UTF-8 character at the beginning of `text`, 0 if there is no valid one (RFC 3629).
std::size_t utf8Length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : (first & 0xF0) == 0xE0         ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = at(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

/// Optimal string alignment distance without letter case; `limit` + 1 if it is larger.
std::size_t typingErrors(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& twoAbove = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + differs});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], twoAbove[j - 2] + 1);
    }
  }
  return std::min(rows[a.size() % 3][b.size()], limit + 1);
}

}  // namespace

std::string toLower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  std::size_t used = 0;
  while (used < text.size() && used < kQuotedBytes) {
    const std::size_t length = utf8Length(text.substr(used));
    const auto byte = static_cast<unsigned char>(text[used]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      result.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
      ++used;
      continue;
    }
    if (byte == '"' || byte == '\\') result += '\\';
    result.append(text.substr(used, length));
    used += length;
  }
  return result + (used < text.size() ? "...\"" : "\"");
}

std::string joinChoices(std::span<const std::string_view> choices) {
  std::string result;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) result += i + 1 == choices.size() ? " or " : ", ";
    result += choices[i];
  }
  return result;
}

std::size_t findInvalidUtf8OrControl(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    const std::size_t length = control ? 0 : utf8Length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates) {
  const std::size_t limit = word.size() <= 3 ? 1 : 2;
  if (word.size() > 64) return {};
  std::string_view best;
  std::size_t fewest = limit + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t errors = typingErrors(word, candidate, limit);
    if (errors < fewest) {
      fewest = errors;
      best = candidate;
    }
  }
  return best;
}

}  // namespace sluice::base
