// A step of a path into a JSON value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::content {

/// One step of a path into a value: by name into a map, by index into a list. A step that has both can be taken in a
/// map and in a list.
struct JsonStep {
  std::optional<std::string> name;
  std::optional<std::int32_t> index;  // negative: counted from the end
};

using JsonPath = std::vector<JsonStep>;

}  // namespace sluice::content
