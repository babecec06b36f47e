// Finds the objects of a type that their schema refuses, for the writers of statuses.
#pragma once

#include "config/model/model.h"
#include "config/read/object_kinds.h"

namespace sluice::compile {

/// Calls `visit` with each refused object of the type, for all its kinds, in the order of the model.
template <typename Object, typename Visit>
void forEachRefused(const config::Model& model, Visit&& visit) {
  for (const config::Rejected& each : model.rejected) {
    if (config::findObjectKind(each.group, each.kind)->isOf<Object>()) visit(each);
  }
}

}  // namespace sluice::compile
