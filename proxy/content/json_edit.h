// Changes single values of a JSON document and leaves every other byte of it as it is (E-10).
//
// Pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/json_pointer.h"
#include "proxy/content/value.h"

namespace sluice::content {

struct JsonEdit {
  JsonPointer pointer;
  /// What stands there afterwards; nothing: it is removed, with its name and one comma.
  std::optional<Value> value;
};

/// Lists and maps inside each other.
inline constexpr std::size_t kMostEditedDepth = 64;

/// The document with one edit made after the other.
///
/// To set what is not there yet adds a member behind the last one of its map, or an element behind the last one of its
/// list if the pointer names it by "-" or its index; maps that are missing on the way are made, lists are not. To
/// remove what is not there changes nothing. Errors, which are config's and quote nothing but the pointer: the text is
/// no JSON or too deep; a map on the way names something twice, so that its readers may disagree; to set what has no
/// place, or what is no JSON when it is written; to remove the whole.
base::Result<std::string> editJson(std::string_view document, std::span<const JsonEdit> edits);

}  // namespace sluice::content
