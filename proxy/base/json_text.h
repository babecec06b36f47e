// Pieces of JSON appended to a string: the one place that escapes what strangers sent before it reaches a log or an
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

/// What ends a text that was cut. Three bytes.
inline constexpr std::string_view kCutMarker = "\xe2\x80\xa6";

/// One byte of a text becomes no more bytes than this.
inline constexpr std::size_t kMostBytesOfAByte = 6;

/// Appends `text` as a JSON string. Between the quotes stand at most `maxBytes` (3 or more) bytes, escapes counted; a
/// text that needs more is cut at a character and ends with kCutMarker.
void appendJsonString(std::string& out, std::string_view text, std::size_t maxBytes);

/// Appends `text` as a JSON string, however long it is.
inline void appendJsonString(std::string& out, std::string_view text) {
  appendJsonString(out, text, kMostBytesOfAByte * text.size() + kCutMarker.size());
}

/// The same for memory that has room for maxBytes + kJsonStringSlack; returns the end of what was written.
char* writeJsonString(char* to, std::string_view text, std::size_t maxBytes);
inline constexpr std::size_t kJsonStringSlack = 16;

template <std::integral Integer>
void appendJsonNumber(std::string& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

/// Milliseconds with three decimals, as 12.345, to memory that has room for 24 bytes; returns the end. Cut, not
/// rounded; a negative duration is 0.000.
char* writeJsonMilliseconds(char* to, base::Duration duration);

}  // namespace sluice::base
