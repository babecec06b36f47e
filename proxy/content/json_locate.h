// Checks a whole JSON text (RFC 8259) and finds the places of values in it, in one pass and without building a tree.
//
// A pure function. It is as strict as JsonScan, with the same exception for names whose hashes are equal, and for a
// text that is there in one piece it is several times as fast. Its memory is 16 bytes for each name of the open maps,
// and the stack of one call for each of at most JsonScan::kMostDepth open maps and lists.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "proxy/content/json_step.h"

namespace sluice::content {

inline constexpr std::size_t kMostLocated = 64;

/// Puts the text of the value at each path into `found` at the path's position, without spaces around it; an empty text
/// if there is no such value. There are at most kMostLocated paths; a path without steps is the whole value, and one
/// that counts from the end finds nothing. Returns false if `text` is not JSON; `found` has no meaning then.
bool locateJson(std::string_view text, std::span<const JsonPath> paths, std::span<std::string_view> found);

}  // namespace sluice::content
