// Changes single values of a JSON document and leaves every other byte of it as it is.
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
  /// The new value; if absent, the value is removed, with its name and one comma.
  std::optional<Value> value;
};

/// The deepest nesting of lists and maps that is edited.
inline constexpr std::size_t kMostEditedDepth = 64;

/// Returns the document after all edits, made one after the other.
///
/// Setting a missing value adds a member at the end of its map, or an element at the end of its list if the pointer
/// names it by "-" or its index. Missing maps on the way are made, missing lists are not. Removing a missing value
/// changes nothing. Fails with an error of config's origin, which quotes nothing but the pointer, if the text is no
/// JSON or too deep; if a map on the way has duplicate names, so that its readers may disagree; if the value to be set
/// has no place, or is no JSON when written; and if the whole document is to be removed.
base::Result<std::string> editJson(std::string_view document, std::span<const JsonEdit> edits);

}  // namespace sluice::content
