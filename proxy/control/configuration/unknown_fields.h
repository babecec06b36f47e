// Reports the fields of an object that are ignored because this program does not know them.
//
// In files that is an error. The CRDs of a cluster may be newer than this program, so there it is a warning, as the
// condition `sluice.dev/UnknownFields`, which is absent from objects without such fields. Pure function.
#pragma once

#include <string_view>

#include "config/ground/problem.h"
#include "config/status/status_list.h"

namespace sluice::control {

inline constexpr std::string_view kUnknownFields = "sluice.dev/UnknownFields";

/// Adds the condition to the statuses of the objects with such warnings in `problems`, in every place where the object
/// has conditions.
void addUnknownFields(config::StatusList& statuses, const config::Problems& problems);

}  // namespace sluice::control
