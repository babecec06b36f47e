// Guesses what the writer of a reference that leads nowhere meant.
//
// A hint names only objects of the holder's own namespace. So it discloses nothing of what others have. Each hint
// begins with "; " or is empty. These are pure functions, bounded in time and in the length of their result, and their
// result does not depend on the order of the objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/ground/grants.h"

namespace sluice::compile {

/// Returns the kinds of objects that can stand in place of one of that kind: the kinds of Backends and Service for each
/// other, the kinds of Gateways, and so on.
std::vector<const config::ObjectKind*> kindsLike(std::string_view group, std::string_view kind);

/// The most names or numbers in a hint, and the most objects of a kind with which a name is compared.
inline constexpr std::size_t kMostListed = 8;
inline constexpr std::size_t kMostSearched = 2000;

/// Returns a hint for a reference to an object that does not exist: the object of that name that has another kind, or
/// the nearest name. `kinds` are those that the field takes. Empty for references to other namespaces.
std::string nearestObject(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                          std::span<const config::ObjectKind* const> kinds);

/// Returns the nearest name, or all names if they are few: "; did you mean http?", "; there are http, https".
std::string nearestName(std::string_view written, std::span<const std::string_view> names);

/// Returns "; it has 80, 443" with the ports that an object has, the first few of them.
std::string availablePorts(const std::vector<std::uint16_t>& ports);

/// Returns the part that ReferenceGrants lack to permit a reference that none permits.
std::string missingGrant(const config::Model& model, const config::ObjectRef& ref, const Holder& holder);

}  // namespace sluice::compile
