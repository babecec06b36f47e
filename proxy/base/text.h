// Small operations on text that readers and messages share.
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

/// In double quotes, for a message: control characters and quotes escaped, cut after 80 bytes.
std::string quote(std::string_view text);

/// "a, b or c".
std::string joinChoices(std::span<const std::string_view> choices);

/// The index of the first byte that begins neither a printable UTF-8 character nor tab, line feed or carriage return;
/// npos if none.
std::size_t findInvalidUtf8OrControl(std::string_view text);

/// What `word` was probably meant to be: the candidate that differs by letter case or at most two typing errors; empty
/// if none does.
std::string_view closestWord(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sluice::base
