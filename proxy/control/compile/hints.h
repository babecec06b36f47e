// What the writer of a reference that leads nowhere probably meant.
//
// A hint names only objects that the reference could lead to: of the holder's own namespace, or such as a
// ReferenceGrant permits. So it discloses nothing that its reader may not use. These are pure functions; each hint
// begins with "; " or is empty.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/model/object_kinds.h"
#include "proxy/control/compile/grants.h"

namespace sluice::control {

/// Returns the kinds of objects that can stand in place of one of that kind: the kinds of Backends and Service for each
/// other, the kinds of Gateways, and so on.
std::vector<const config::ObjectKind*> kindsLike(std::string_view group, std::string_view kind);

/// Returns a hint for a reference to an object that does not exist: the object of that name that has another kind, or
/// the nearest name. `kinds` are those that the field takes.
std::string nearestObject(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                          std::span<const config::ObjectKind* const> kinds);

/// Returns the nearest name, or all names if they are few: "; did you mean http?", "; there are http, https".
std::string nearestName(std::string_view written, std::span<const std::string_view> names);

/// Returns the part that ReferenceGrants lack to permit a reference that none permits.
std::string missingGrant(const config::Model& model, const config::ObjectRef& ref, const Holder& holder);

}  // namespace sluice::control
