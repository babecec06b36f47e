// Pieces of JSON appended to a string: the one place that escapes untrusted bytes before they reach a log or an
// answer.
//
// Whatever the bytes, the output is valid UTF-8 on one line and moves no terminal: controls (C0, DEL, C1), the line
// separators and the bidirectional overrides are escaped, bytes that are no UTF-8 become U+FFFD. Appends only; any
// thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"

namespace sluice::base {

/// The marker at the end of a text that was cut. Three bytes.
inline constexpr std::string_view kCutMarker = "\xe2\x80\xa6";

/// The largest number of bytes that one byte of a text becomes.
inline constexpr std::size_t kMostBytesOfAByte = 6;

/// Appends `text` as a JSON string. The text between the quotes takes at most `maxBytes` (3 or more) bytes, including
/// escapes; a text that needs more is cut at a character and ends with kCutMarker.
void appendJsonString(std::string& out, std::string_view text, std::size_t maxBytes);

/// Appends `text` as a JSON string, however long it is.
inline void appendJsonString(std::string& out, std::string_view text) {
  appendJsonString(out, text, kMostBytesOfAByte * text.size() + kCutMarker.size());
}

/// Writes `text` like appendJsonString() to memory that has room for maxBytes + kJsonStringSlack; returns the end of
/// the output.
char* writeJsonString(char* to, std::string_view text, std::size_t maxBytes);
inline constexpr std::size_t kJsonStringSlack = 16;

template <std::integral Integer>
void appendJsonNumber(std::string& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

/// Writes milliseconds with three decimals, such as 12.345, to memory that has room for 24 bytes; returns the end. The
/// value is truncated, not rounded; a negative duration is written as 0.000.
char* writeJsonMilliseconds(char* to, base::Duration duration);

}  // namespace sluice::base
