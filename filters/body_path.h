// The place of the one value that a processor reads from a JSON document: a JSON Pointer (RFC 6901) or a singular
// query of JSONPath (RFC 9535 section 2.3.5.1: names and indices from "$" on, no wildcards, slices or filters).
//
// Immutable; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/json_scan.h"

namespace sluice::filters {

class BodyPath {
 public:
  static constexpr std::size_t kMostSteps = content::JsonScan::kMostSteps;

  /// Parses "/a/0/b"; "" is the whole document. Errors have config's origin and state the fault and its position.
  static base::Result<BodyPath> fromPointer(std::string_view text);
  /// Parses "$.a[0]['b']"; indices from the end are negative, down to -JsonScan::kMostFromEnd.
  static base::Result<BodyPath> fromJsonPath(std::string_view text);

  /// Returns the steps for a scan; they outlive it.
  std::span<const content::JsonStep> steps() const { return steps_; }

 private:
  std::vector<content::JsonStep> steps_;
};

}  // namespace sluice::filters
