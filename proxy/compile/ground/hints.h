// Guesses what the author of a reference meant if the reference leads nowhere.
//
// A hint names only objects of the holder's own namespace, so it discloses nothing about other namespaces. Each hint is
// empty or begins with "; ". These are pure functions. Their time and the length of their results are bounded, and the
// results do not depend on the order of the objects.
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

/// Returns the kinds that users may confuse with that kind: for example the kinds of Backends and Service, or the kinds
/// of Gateways.
std::vector<const config::ObjectKind*> kindsLike(std::string_view group, std::string_view kind);

/// The most names or numbers in a hint, and the most objects of a kind with which a name is compared.
inline constexpr std::size_t kMostListed = 8;
inline constexpr std::size_t kMostSearched = 2000;

/// Returns a hint for a reference to an object that does not exist. It names the object with that name and another
/// kind, or else the nearest name. `kinds` are the kinds that the field accepts. The hint is empty for references to
/// other namespaces.
std::string nearestObject(const config::Model& model, const config::ObjectRef& ref, const Holder& holder,
                          std::span<const config::ObjectKind* const> kinds);

/// Returns a hint with the nearest name, or with all names if they are few: "; did you mean http?", "; there are http,
/// https".
std::string nearestName(std::string_view written, std::span<const std::string_view> names);

/// Returns "; it has 80, 443" with the first few ports of an object.
std::string availablePorts(const std::vector<std::uint16_t>& ports);

/// Returns what the ReferenceGrants lack. None of them permits the reference.
std::string missingGrant(const config::Model& model, const config::ObjectRef& ref, const Holder& holder);

}  // namespace sluice::compile
