// Finds schemas that would be applied to the same value again and again.
//
// Pure function.
#pragma once

#include <deque>

#include "proxy/content/schema/compiled_schema.h"

namespace sluice::content {

/// Returns a schema that leads back to itself without a step into the value; nullptr if there is none. It does not
/// follow a `$dynamicRef` that is resolved for each value again.
const SchemaNode* findInPlaceCycle(const std::deque<SchemaNode>& nodes);

}  // namespace sluice::content
