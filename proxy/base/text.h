// Small text functions that configuration readers and error messages share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sluice::base {

/// ASCII only, here and below.
constexpr char toLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string toLower(std::string_view text);
bool equalsIgnoringCase(std::string_view a, std::string_view b);

/// Returns the text in double quotes, for a message: control characters and quotes are escaped, and it is cut after 80
/// bytes.
std::string quote(std::string_view text);

/// Returns the text behind its length, so that texts in a row are told apart whatever they contain.
std::string measured(std::string_view text);

/// Returns "a, b or c".
std::string joinChoices(std::span<const std::string_view> choices);

/// Returns the index of the first byte that begins neither a printable UTF-8 character nor a tab, line feed or
/// carriage return; npos if there is none.
std::size_t findInvalidUtf8OrControl(std::string_view text);

/// Returns the candidate that `word` was probably meant to be, which differs by letter case or by at most two typing
/// errors, fewer in a short word; empty if there is none.
std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sluice::base
