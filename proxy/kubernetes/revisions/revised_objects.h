// The objects of a configuration that an EgressRevision keeps: what users have written, without what holds secrets and
// without what changes by itself.
//
// Secrets are left out, because whoever may read an EgressRevision need not be allowed to read them; Services and their
// EndpointSlices, because an old version of them says nothing about where Pods are now. So a revision that is brought
// back is served with the Secrets and Services of today.
//
// Values and pure functions; any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "config/load/object_set.h"
#include "proxy/base/result.h"

namespace sluice::kubernetes {

struct RevisedObjects {
  /// An API server takes objects of 1.5 MB at most.
  static constexpr std::size_t kMostDataBytes = 1'000'000;
  static constexpr std::size_t kMostTextBytes = std::size_t{64} * 1024 * 1024;

  std::string revision;  // the beginning of the digest of the objects; the same for every process that has them
  std::string data;      // packed; empty if they are too large
};

/// A revision that is served in place of the newest objects of a Gateway.
struct PinnedRevision {
  std::string name;  // of the EgressRevision
  std::string revision;
  std::string data;  // packed objects
};

/// Returns true for a text that an EgressRevision keeps, by the objects that were read from it.
bool isRevised(const config::KeptText& text, const std::vector<config::ObjectReading>& readings);

/// Returns the revision of the objects that an API server has given.
std::string revisionOfObjects(const config::ObjectSet& set);
/// Returns them as an EgressRevision keeps them: one JSON text a line, as gzip in base64; empty if that is longer than
/// kMostDataBytes.
std::string packObjects(const config::ObjectSet& set);
/// Reads what packObjects() has written. The error says which form is wrong.
base::Result<config::KeptTexts> unpackObjects(const PinnedRevision& pinned);

}  // namespace sluice::kubernetes
