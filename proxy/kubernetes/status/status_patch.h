// What is written to an object's status at the API server: the difference between the status that we want and the one
// that is there, which other controllers write too.
//
// Pure functions; any thread. The results are bodies of a JSON merge patch (RFC 7396; application/merge-patch+json) for
// the object's subresource `status`: {"metadata":{"resourceVersion"},"status":{...}}. The API server refuses a patch
// whose resourceVersion is not the object's own any more with 409: then read the object and ask again.
//
// A merge patch replaces lists whole and leaves members alone that it does not name. So only the lists that differ are
// written, and members of `status` that are unknown here stay. What happens to the entries of a list:
//
//   conditions           Conditions of our types are replaced in their place, or removed if they are wanted no more;
//                        other types keep their places. Our types are those of config/status/conditions.h, and all
//                        whose prefix is sluice.dev or a domain below it, as "extension.sluice.dev/key".
//   parents, ancestors   Entries with another controllerName keep their places, byte for byte. Ours are replaced in
//                        their place if they have the same reference, and are removed if no wanted one has it. Those
//                        about Gateways that another controller of our name serves are not ours (OwnEntries).
//   controllers          As parents are; the name of an entry is its controller and its key.
//   listeners, addresses, supportedFeatures
//                        They are ours alone. Features are sorted by name.
//
// Lists have the bounds of the CRDs: 8 conditions (32 in kinds of our own group), 32 parents, 16 ancestors, 8
// controllers, 64 listeners, 64 features, 16 addresses. Entries of others are never cut for one of ours. If both do not
// fit, then of ours those are left out that come last in the wanted status (of features: last by name). Messages of
// conditions have at most 32,768 bytes, and less if the wanted status would otherwise be larger than 1 MiB, which the
// API server would refuse: boundedText() cuts them.
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

/// Says which entries with our controllerName are of this process: those about its Gateways, and those that are not
/// about a Gateway.
struct OwnEntries {
  std::string_view nameSpace;                       // of the object; references without a namespace mean it
  const std::set<std::string>* gateways = nullptr;  // "namespace/name"; null or empty: all
};

/// Returns the patch that makes the object's status say what `wanted` says; nullopt if it does so already. Two statuses
/// are the same if they differ only in the order of objects' members, or in lists that are empty or absent. `current`
/// is the object's `status`; nullptr if it has none. `resourceVersion`, which must not be empty, is of the object in
/// which `current` was read.
std::optional<std::string> statusPatch(const config::ObjectStatus& wanted, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own, base::WallTime now);

/// Returns the patch that removes what is ours from an object that we say nothing about any more; nullopt if nothing
/// is. Plain conditions do not tell who wrote them, and the object's new controller may have: of these only the types
/// with a prefix of our domain are removed.
std::optional<std::string> withoutOurs(config::StatusShape shape, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own);

}  // namespace sluice::kubernetes
