// What serves on when the newest version of an object is refused by its schema: the version before it (C-11).
//
// A pure function of two Models. It composes: what was put back once is found again by the next reload, so an object
// that stays wrong keeps its last good version, one that was deleted does not come back, and one that is valid again
// leaves no trace.
#pragma once

#include "config/model/model.h"

namespace sluice::config {

/// Puts each object of `model.rejected` that `previous` has in a valid form back into its list, with the
/// ObjectVersion of the refused one, and moves its entry to `model.kept`. `previous` is what was served until now.
void keepLastGood(Model& model, const Model& previous);

}  // namespace sluice::config
