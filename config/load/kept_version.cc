#include "config/load/kept_version.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace sluice::config {
namespace {

template <typename Visit>
void forEachReading(const ObjectSet& set, Visit&& visit) {
  for (std::size_t i = 0; i < set.readings.size(); ++i) {
    for (const ObjectReading& reading : *set.readings[i]) {
      if (reading.revision) visit(reading, i);
    }
  }
}

const KeptVersion* find(const std::vector<KeptVersion>& kept, std::string_view name) {
  const auto found =
      std::find_if(kept.begin(), kept.end(), [name](const KeptVersion& each) { return each.revision.name == name; });
  return found != kept.end() ? &*found : nullptr;
}

}  // namespace

std::vector<KeptVersion> keptVersions(const Model& model, const ObjectSet& set, const ObjectSet& before,
                                      const std::vector<KeptVersion>& keptBefore) {
  std::vector<KeptVersion> kept;
  if (model.kept.empty()) return kept;
  std::unordered_set<std::string_view> wanted;
  forEachReading(set, [&](const ObjectReading& reading, std::size_t) {
    const ObjectIdentity& identity = reading.identity;
    if (reading.rejected && model.findKept(identity.group, identity.kind, identity.nameSpace, identity.name)) {
      wanted.insert(reading.revision->name);
    }
  });
  forEachReading(before, [&](const ObjectReading& reading, std::size_t index) {
    // If two documents define the same object, the first one is used.
    if (reading.object && wanted.erase(reading.revision->name) > 0) {
      kept.push_back({*reading.revision, before.texts[index]});
    }
  });
  for (const std::string_view name : wanted) {
    if (const KeptVersion* earlier = find(keptBefore, name)) kept.push_back(*earlier);
  }
  return kept;
}

std::string servedDigest(const ObjectSet& set, const std::vector<KeptVersion>& kept) {
  std::vector<const RevisionEntry*> entries;
  forEachReading(set, [&](const ObjectReading& reading, std::size_t) {
    const RevisionEntry& written = *reading.revision;
    if (written.covers == Covers::kEndpoints) return;
    const KeptVersion* served = find(kept, written.name);
    entries.push_back(served != nullptr ? &served->revision : &written);
  });
  return digestOf(std::move(entries));
}

}  // namespace sluice::config
