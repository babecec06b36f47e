// KeptVersions are earlier versions of objects that are served because their schemas refuse the newer ones
// (last_good.h), and of Secrets whose pair is served because the newer version has none (last_pairs.h).
//
// They are part of what a process serves. Two processes with the same files serve different configurations if only one
// of them still has the earlier version of an object. So the served digest covers them, and code that stores a
// configuration also stores the texts from which they were read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/load/object_set.h"
#include "config/load/revision.h"
#include "config/load/text_cache.h"
#include "config/model/model.h"

namespace sluice::config {

struct KeptVersion {
  RevisionEntry revision;  // the revision of the version that is served
  std::shared_ptr<const KeptText> text;
};

/// Returns true if the model has anything of an earlier version.
bool servesEarlierVersions(const Model& model);

/// Returns the kept versions in `model`, which was loaded from `set`. They come from the set that was served before, or
/// are among the versions that were kept then.
std::vector<KeptVersion> keptVersions(const Model& model, const ObjectSet& set, const ObjectSet& before,
                                      const std::vector<KeptVersion>& keptBefore);

/// Returns the digest of the served configuration: that of the set, with `kept` in place of the refused versions, and
/// beside the Secrets that have no pair.
std::string servedDigest(const ObjectSet& set, const std::vector<KeptVersion>& kept);

}  // namespace sluice::config
