// The forms that fields of the Kubernetes API have: its two kinds of time, lists, and texts and names that have a
// bound.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

/// Returns a metav1.Time, which has no fractions: 2026-11-23T16:46:08Z. The fraction is cut off, not rounded.
std::string apiTime(base::WallTime time);
/// Returns a metav1.MicroTime: 2026-11-23T16:46:08.123456Z. Fractions of a microsecond are cut off.
std::string apiMicroTime(base::WallTime time);

/// Returns `text` as valid UTF-8 of at most `most` bytes (3 or more): bytes that are no text become U+FFFD, and a text
/// that is too long is cut at a character and ends with base::kCutMarker.
std::string boundedText(std::string_view text, std::size_t most);

/// Returns `name`, or if that has more than `most` bytes its beginning and digits of its digest, so that different
/// names have different results. The part before the digits ends with a character with which a name may end.
std::string boundedName(std::string_view name, std::size_t most);

/// Returns the string `key` of a map; empty if it is missing or anything else, or if there is no map.
std::string_view textIn(const content::Value* map, std::string_view key);
/// Returns the whole number `key` of a map; nullopt if it is missing or anything else, or if there is no map.
std::optional<std::int64_t> numberIn(const content::Value* map, std::string_view key);
/// Returns the value `key` of a map; nullptr if it is missing or null, or if there is no map.
const content::Value* valueIn(const content::Value* map, std::string_view key);
/// Returns the items of a list of objects, which is null if it has none; nullptr if `list` is no such list.
const content::Value* itemsOf(const content::Value& list);

}  // namespace sluice::kubernetes
