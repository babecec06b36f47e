// Makes the patch for an object's status at the API server: the difference between the wanted status and the present
// one, to which other controllers write, too.
//
// Pure functions; any thread. The results are bodies of a JSON merge patch (RFC 7396; application/merge-patch+json) for
// the object's subresource `status`: {"metadata":{"resourceVersion"},"status":{...}}. The API server refuses a patch
// with an outdated resourceVersion with 409. The caller must then read the object and make a new patch.
//
// A merge patch replaces lists as a whole, and does not change members that it does not name. So only the lists that
// differ are written, and members of `status` that are unknown here stay. The entries of a list are merged by these
// rules:
//
//   conditions           Conditions of our types are replaced in their place, or removed if they are no longer wanted;
//                        other types keep their places. Our types are those of config/status/conditions.h, and all
//                        types with the prefix sluice.dev or a domain below it, as "extension.sluice.dev/key".
//   parents, ancestors   Entries with another controllerName keep their places, byte for byte. Our entries are replaced
//                        in their place if a wanted one has the same reference, and removed otherwise. Entries about
//                        Gateways that another controller of our name serves are not ours (OwnEntries).
//   controllers          These entries are merged like parents; the name of an entry is its controller and its key.
//   listeners, addresses, supportedFeatures
//                        All entries are ours. Features are sorted by name.
//
// Lists have the bounds of the CRDs: 8 conditions (32 in kinds of our own group), 32 parents, 16 ancestors, 8
// controllers, 64 listeners, 64 features, 16 addresses. Entries of other controllers are never removed in favour of
// ours. If there is no room for all, our last entries in the wanted status are left out (of features: last by name).
// Messages of conditions have at most 32,768 bytes, and less if the wanted status would otherwise be larger than 1 MiB,
// which the API server would refuse: boundedText() shortens them.
//
// lastTransitionTime stays as it is while the condition has the same status (True, False or Unknown); else it is the
// wanted condition's own, and `now` if it has none. observedGeneration is written if it is known.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/status/conditions.h"
#include "proxy/base/clock.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

/// Selects the entries with this program's controllerName that belong to this process: those about its Gateways, and
/// those that are not about a Gateway.
struct OwnEntries {
  std::string_view nameSpace;                       // of the object, and of references without a namespace
  const std::set<std::string>* gateways = nullptr;  // "namespace/name"; null or empty: all
};

/// Returns the patch that changes the object's status to `wanted`; nullopt if it is equal already. Two statuses are the
/// same if they differ only in the order of objects' members, or in lists that are empty or absent. `current` is the
/// object's `status`; nullptr if it has none. `resourceVersion`, which must not be empty, is that of the object from
/// which `current` was read.
std::optional<std::string> statusPatch(const config::ObjectStatus& wanted, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own, base::WallTime now);

/// Returns the patch that removes this program's entries from the status of an object that it does not handle any more;
/// nullopt if it has none. Plain conditions do not show their writer, and may be those of the object's new controller,
/// so only types with a prefix of this program's domain are removed.
std::optional<std::string> withoutOurs(config::StatusShape shape, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own);

}  // namespace sluice::kubernetes
