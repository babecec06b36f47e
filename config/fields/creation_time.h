// Reads the time at which an object was created (metadata.creationTimestamp) into texts that sort as the times do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::config {

/// Sorts after every time that sortableTime() returns.
inline constexpr std::string_view kAfterAllTimes = "A";

/// Converts a time of RFC 3339 into UTC, without the letter of its zone and without trailing zeros in its fraction:
/// "2026-01-31T23:59:59.5". So equal times have equal texts, and an earlier time has the smaller text. Returns nullopt
/// for anything else, and for times before the year 0 or after the year 9999 in UTC.
std::optional<std::string> sortableTime(std::string_view rfc3339);

}  // namespace sluice::config
