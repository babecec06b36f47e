// The time at which an object was created (metadata.creationTimestamp), in a form whose texts compare as times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::config {

/// Comes after every time that sortableTime() returns.
inline constexpr std::string_view kAfterAllTimes = "A";

/// Returns a time of RFC 3339 in UTC, without the letter of its zone and without zeros at the end of its fraction, so
/// that equal times have equal texts and an earlier one has the lesser text: "2026-01-31T23:59:59.5". Returns nullopt
/// for anything else, and for times that are before the year 0 or after the year 9999 in UTC.
std::optional<std::string> sortableTime(std::string_view rfc3339);

}  // namespace sluice::config
