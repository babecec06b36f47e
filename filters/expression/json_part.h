// Reads a part of a JSON text in place, without building a tree: members, elements, sizes, scalars.
//
// Pure functions. Texts are known to be JSON, checked as strictly as content::JsonScan does, so no map has a name
// twice. The caller counts the bytes that are walked over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "filters/expression/datum.h"
#include "filters/expression/meter.h"
#include "proxy/content/json_cursor.h"

namespace sluice::filters {

/// Goes through the members of a map or the elements of a list.
class JsonParts {
 public:
  /// `container` is a list or a map.
  explicit JsonParts(std::string_view container);

  /// Moves to the next one. Returns false at the end.
  bool next();
  /// Returns true if the current one is a member of that name.
  bool isNamed(std::string_view name) const;
  /// Returns the name of the current member.
  std::string name() const;
  /// Returns the text of the current value, without spaces around it. It is skipped when this is called first, or by
  /// next().
  std::string_view value();

 private:
  const std::string_view text_;
  content::JsonCursor cursor_;
  const char closing_;
  bool isFirst_ = true;
  bool isTaken_ = true;
  std::string_view name_;  // with its quotes
  std::string_view value_;
};

/// Returns the value of a text that is JSON. Strings without escapes, lists and maps are views of it.
Datum jsonDatum(std::string_view text, Meter& meter);
/// Returns the number in JSON's spelling as a value: an integer if it is written as one and fits into 64 bits, else a
/// double.
Datum jsonNumberDatum(std::string_view spelling);

/// Each of these returns the text of one value; nullopt if there is none.
std::optional<std::string_view> jsonMember(std::string_view container, std::string_view name);
std::optional<std::string_view> jsonElement(std::string_view container, std::int64_t index);
std::size_t jsonSize(std::string_view container);

}  // namespace sluice::filters
