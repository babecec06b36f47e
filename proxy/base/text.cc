#include "proxy/base/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include "proxy/base/hex.h"
#include "proxy/base/utf8.h"

namespace sluice::base {
namespace {

constexpr std::size_t kQuotedBytes = 80;
constexpr std::size_t kMostCompared = 64;  // bytes of a word
constexpr std::size_t kMostErrors = 2;

/// Returns the optimal string alignment distance, ignoring letter case; `limit` + 1 if it is larger than `limit`. Only
/// the cells that `limit` errors can reach are computed.
std::size_t typingErrors(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  while (!a.empty() && !b.empty() && toLower(a.front()) == toLower(b.front())) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && toLower(a.back()) == toLower(b.back())) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  const std::size_t tooMany = limit + 1;
  std::array<std::array<std::size_t, kMostCompared + kMostErrors + 1>, 3> rows;
  for (auto& row : rows) std::fill_n(row.begin(), b.size() + 1, tooMany);
  for (std::size_t j = 0; j <= std::min(b.size(), limit); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& twoAbove = rows[(i + 1) % 3];
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = std::min(b.size(), i + limit);
    row[first - 1] = i <= limit ? i : tooMany;
    std::size_t fewest = row[first - 1];
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t differs = toLower(a[i - 1]) == toLower(b[j - 1]) ? 0 : 1;
      const std::size_t fromAbove = j < i + limit ? above[j] + 1 : tooMany;
      row[j] = std::min({fromAbove, row[j - 1] + 1, above[j - 1] + differs, tooMany});
      const bool swapped =
          i > 1 && j > 1 && toLower(a[i - 1]) == toLower(b[j - 2]) && toLower(a[i - 2]) == toLower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], twoAbove[j - 2] + 1);
      fewest = std::min(fewest, row[j]);
    }
    if (fewest > limit) return tooMany;
  }
  return std::min(rows[a.size() % 3][b.size()], tooMany);
}

}  // namespace

std::string toLower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return toLower(c); });
  return result;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return toLower(x) == toLower(y); });
}

std::string quote(std::string_view text) {
  std::string result = "\"";
  std::size_t used = 0;
  while (used < text.size() && used < kQuotedBytes) {
    const std::size_t length = decodeUtf8(text.substr(used)).length;
    const auto byte = static_cast<unsigned char>(text[used]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      result.append("\\x").append(hexOf(byte));
      ++used;
      continue;
    }
    if (byte == '"' || byte == '\\') result += '\\';
    result.append(text.substr(used, length));
    used += length;
  }
  return result + (used < text.size() ? "...\"" : "\"");
}

std::string measured(std::string_view text) { return " " + std::to_string(text.size()) + ":" + std::string(text); }

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
    const std::size_t length = control ? 0 : decodeUtf8(text.substr(at)).length;
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates) {
  const std::size_t limit = word.size() <= 1 ? 0 : word.size() <= 3 ? 1 : kMostErrors;
  if (word.size() > kMostCompared) return {};
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
