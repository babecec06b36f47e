// The earlier versions of objects that are served in place of newer ones which their schemas refuse (last_good.h).
//
// They are part of what a process serves: two processes with the same files serve different things if only one of them
// still has an object's earlier version. So the served digest contains them, and whoever stores a configuration stores
// the texts from which they were read.
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
  RevisionEntry revision;  // of the version that is served
  std::shared_ptr<const KeptText> text;
};

/// Returns the versions that `model`, loaded from `set`, has kept. They come from the set that was served before, or
/// are among those which were kept then.
std::vector<KeptVersion> keptVersions(const Model& model, const ObjectSet& set, const ObjectSet& before,
                                      const std::vector<KeptVersion>& keptBefore);

/// Returns the digest of what is served: that of the set with `kept` versions in the place of refused ones.
std::string servedDigest(const ObjectSet& set, const std::vector<KeptVersion>& kept);

}  // namespace sluice::config
