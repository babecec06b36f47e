// The part of an object's status that this program has written, as the API server has it.
//
// Pure function.
#pragma once

#include <optional>

#include "config/read/object_kinds.h"
#include "proxy/content/value.h"

namespace sluice::server {

/// Returns the list of the entries that carry our controllerName, or the whole status of a kind that has no such
/// entries; nullopt if there is nothing. `kind` has a status.
std::optional<content::Value> ourStatus(const config::ObjectKind& kind, const content::Value& object);

}  // namespace sluice::server
