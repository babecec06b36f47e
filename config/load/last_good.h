// Keeps the previous version of an object in service while the schema refuses its newest version.
//
// This is a pure function of two Models. It works across several reloads. An object that stays wrong keeps its last
// good version, because the next reload finds it in the Model. A deleted object does not come back. A valid object
// replaces its kept version.
#pragma once

#include "config/model/model.h"

namespace sluice::config {

/// For each object of `model.rejected`, puts the valid version in `previous`, if there is one, back into its list, with
/// the ObjectVersion of the refused one. It also moves the entry to `model.kept`. `previous` is the model served until
/// now.
void keepLastGood(Model& model, const Model& previous);

}  // namespace sluice::config
