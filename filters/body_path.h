// Where in a JSON document the one value stands that a processor wants: as a JSON Pointer (RFC 6901) or as a singular
// query of JSONPath (RFC 9535 section 2.3.5.1: names and indices from "$" on, no wildcards, slices or filters).
//
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::filters {

class BodyPath {
 public:
  static constexpr std::size_t kMostSteps = 32;

  /// "/a/0/b"; "" is the whole document. Errors (config's) say what is wrong and where.
  static base::Result<BodyPath> fromPointer(std::string_view text);
  /// "$.a[0]['b']"; indices from the end are negative.
  static base::Result<BodyPath> fromJsonPath(std::string_view text);

  /// The value, or null if the document has none there.
  const content::Value* find(const content::Value& document) const;

 private:
  struct Step {
    std::optional<std::string> name;    // of a member
    std::optional<std::int32_t> index;  // of an element; a token of a pointer may be both
  };

  static const content::Value* walk(const content::Value& value, const Step& step);

  std::vector<Step> steps_;
};

}  // namespace sluice::filters
