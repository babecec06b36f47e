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

/// Returns true if an earlier version is served in place of this one, which its schema refuses.
bool isReplaced(const ObjectReading& reading, const Model& model) {
  const ObjectIdentity& identity = reading.identity;
  return model.findKept(identity.group, identity.kind, identity.nameSpace, identity.name) != nullptr;
}

bool hasLastPair(const ObjectReading& reading, const Model& model) {
  return reading.kind != nullptr && reading.kind->isOf<SecretObject>() &&
         model.findLastPair(reading.identity.nameSpace, reading.identity.name) != nullptr;
}

}  // namespace

bool servesEarlierVersions(const Model& model) { return !model.kept.empty() || !model.lastPairs.empty(); }

std::vector<KeptVersion> keptVersions(const Model& model, const ObjectSet& set, const ObjectSet& before,
                                      const std::vector<KeptVersion>& keptBefore) {
  std::vector<KeptVersion> kept;
  if (!servesEarlierVersions(model)) return kept;
  std::unordered_set<std::string_view> wanted;
  forEachReading(set, [&](const ObjectReading& reading, std::size_t) {
    if (reading.rejected ? isReplaced(reading, model) : hasLastPair(reading, model)) {
      wanted.insert(reading.revision->name);
    }
  });
  // A Secret without a pair can be read. So a version that was kept already comes before the one that was read then.
  for (const KeptVersion& earlier : keptBefore) {
    if (wanted.erase(earlier.revision.name) > 0) kept.push_back(earlier);
  }
  forEachReading(before, [&](const ObjectReading& reading, std::size_t index) {
    // If two documents define the same object, the first one is used.
    if (reading.object && wanted.erase(reading.revision->name) > 0) {
      kept.push_back({*reading.revision, before.texts[index]});
    }
  });
  return kept;
}

std::string servedDigest(const ObjectSet& set, const std::vector<KeptVersion>& kept) {
  std::vector<const RevisionEntry*> entries;
  forEachReading(set, [&](const ObjectReading& reading, std::size_t) {
    const RevisionEntry& written = *reading.revision;
    if (written.covers == Covers::kEndpoints) return;
    const KeptVersion* served = find(kept, written.name);
    // Only the pair of a Secret that can be read is served in the earlier version.
    if (served == nullptr || !reading.rejected) entries.push_back(&written);
    if (served != nullptr) entries.push_back(&served->revision);
  });
  return digestOf(std::move(entries));
}

}  // namespace sluice::config
