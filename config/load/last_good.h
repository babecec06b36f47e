// Keeps the previous version of an object in service while its newest version is refused by its schema.
//
// This is a pure function of two Models. It composes: the next reload finds an object that was put back once, so an
// object that stays wrong keeps its last good version, a deleted object does not come back, and an object that is valid
// again leaves no trace.
#pragma once

#include "config/model/model.h"

namespace sluice::config {

/// Puts each object of `model.rejected` that `previous` has in a valid form back into its list, with the ObjectVersion
/// of the refused one, and moves its entry to `model.kept`. `previous` is the model served until now.
void keepLastGood(Model& model, const Model& previous);

}  // namespace sluice::config
