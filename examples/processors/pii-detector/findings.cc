#include "findings.h"

#include <algorithm>
#include <string>

namespace pii {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLetter(char c) { return isUpper(c) || (c >= 'a' && c <= 'z'); }
bool isWord(char c) { return isDigit(c) || isLetter(c); }
bool isLocal(char c) { return isWord(c) || c == '.' || c == '_' || c == '%' || c == '+' || c == '-'; }

/// Returns the byte at `at`, or NUL behind the end.
char at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

/// The checksum of card numbers (ISO/IEC 7812).
bool passesLuhn(std::string_view digits) {
  int sum = 0;
  bool doubles = false;
  for (std::size_t i = digits.size(); i-- > 0; doubles = !doubles) {
    const int digit = digits[i] - '0';
    sum += doubles ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 == 0;
}

/// The checksum of IBANs (ISO 13616): the first four characters behind the others, letters as numbers from 10 on.
bool passesMod97(std::string_view iban) {
  int remainder = 0;
  for (std::size_t i = 0; i < iban.size(); ++i) {
    const char c = iban[(i + 4) % iban.size()];
    remainder = isDigit(c) ? (remainder * 10 + (c - '0')) % 97 : (remainder * 100 + (c - 'A' + 10)) % 97;
  }
  return remainder == 1;
}

/// Reads characters with single separators between them, and returns the size of the longest text that `fits`.
template <typename IsPart, typename IsSeparator, typename Fits>
std::size_t longest(std::string_view text, std::size_t most, IsPart&& isPart, IsSeparator&& isSeparator, Fits&& fits) {
  std::string parts;
  std::size_t found = 0;
  for (std::size_t i = 0; i < text.size() && parts.size() < most; ++i) {
    if (isSeparator(text[i]) && isPart(at(text, i + 1))) continue;
    if (!isPart(text[i])) break;
    parts += text[i];
    if (!isPart(at(text, i + 1)) && fits(parts)) found = i + 1;
  }
  return found;
}

bool isGroupSeparator(char c) { return c == ' ' || c == '-'; }

std::size_t cardSize(std::string_view text) {
  return longest(text, 19, isDigit, isGroupSeparator, [](const std::string& digits) {
    const bool same = std::all_of(digits.begin(), digits.end(), [&](char c) { return c == digits[0]; });
    return digits.size() >= 13 && !same && passesLuhn(digits);
  });
}

std::size_t ibanSize(std::string_view text) {
  if (!isUpper(at(text, 0)) || !isUpper(at(text, 1)) || !isDigit(at(text, 2)) || !isDigit(at(text, 3))) return 0;
  const auto isPart = [](char c) { return isDigit(c) || isUpper(c); };
  return longest(
      text, 34, isPart, [](char c) { return c == ' '; },
      [](const std::string& iban) { return iban.size() >= 15 && passesMod97(iban); });
}

std::size_t emailSize(std::string_view text) {
  std::size_t i = 0;
  while (i < 64 && isLocal(at(text, i))) ++i;
  if (i == 0 || at(text, i) != '@') return 0;
  std::size_t found = 0;
  std::size_t lastDot = 0;
  for (++i; i < kLongest && (isWord(at(text, i)) || at(text, i) == '-' || at(text, i) == '.'); ++i) {
    if (text[i] == '.') lastDot = i;
    const bool endsInName = lastDot != 0 && i - lastDot >= 2 && isLetter(text[i]) && isLetter(text[lastDot + 1]);
    if (endsInName) found = i + 1;
  }
  return found;
}

std::size_t phoneSize(std::string_view text) {
  const auto isSeparator = [](char c) { return c == ' ' || c == '-' || c == '.' || c == '/'; };
  const std::size_t skipped = text.front() == '+' ? 1 : 0;
  const std::size_t size = longest(text.substr(skipped), 15, isDigit, isSeparator,
                                   [](const std::string& digits) { return digits.size() >= 9; });
  if (size == 0) return 0;
  const std::string_view found = text.substr(skipped, size);
  // Without the sign of a country, only a number with a leading zero and groups looks like one.
  const bool isLocalNumber = found.front() == '0' && std::count_if(found.begin(), found.end(), isSeparator) >= 2;
  return skipped == 1 || isLocalNumber ? size + skipped : 0;
}

}  // namespace

std::optional<Finding> findAtFront(std::string_view text, char before) {
  text = text.substr(0, kLongest + 1);
  if (text.empty() || isWord(before)) return std::nullopt;
  if (const std::size_t size = ibanSize(text)) return Finding{"iban", size, 0.95};
  if (isDigit(text.front())) {
    if (const std::size_t size = cardSize(text)) return Finding{"card", size, 0.95};
  }
  if (isLocal(text.front()) && !isLocal(before)) {
    if (const std::size_t size = emailSize(text)) return Finding{"email", size, 0.9};
  }
  if (text.front() == '+' || text.front() == '0') {
    if (const std::size_t size = phoneSize(text)) return Finding{"phone", size, text.front() == '+' ? 0.8 : 0.5};
  }
  return std::nullopt;
}

}  // namespace pii
