// Decides whether an object is served as it is written. Alerts about a whole configuration depend on it, so it leaves
// out everything that is no fault of an object: warnings, Backends that are down, and uses that are still loading.
#pragma once

#include "config/status/conditions.h"

namespace sluice::config {

/// Returns true if the condition says that a part of its object is not served as it is written: it is closed, it
/// answers 500, it is left out, or an earlier version serves on. Returns false for a Backend that does not serve, for a
/// use of a payload processor that is Pending, and for CRDs of another version.
bool isFault(const Condition& condition);

/// Returns the fault of the object that tells people most: the first one about a field, because the others may only sum
/// up; else the first one. Returns nullptr if the object has no fault.
const Condition* mainFault(const ObjectStatus& object);

}  // namespace sluice::config
