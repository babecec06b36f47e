#include "config/read/stray_target.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "config/read/object_kinds.h"
#include "proxy/base/text.h"

namespace sluice::config {

bool isStray(const PolicyTargetKind& kind) {
  // A policy for a kind of another API is written for another gateway, even if an object of this gateway has the same
  // name. For example, a ServiceImport always has the name of its Service.
  if (kind.kind.empty() || (kind.groupLegible && isUnsupportedKind(kind.group, kind.kind))) return false;
  const std::span<const ObjectKind> kinds = objectKinds();
  return std::none_of(kinds.begin(), kinds.end(), [&](const ObjectKind& each) {
    return carriesRequests(each) && each.kind == kind.kind && (!kind.groupLegible || each.group == kind.group);
  });
}

std::string nearestTargetKind(const PolicyTargetKind& kind) {
  if (!isStray(kind)) return {};
  std::vector<std::string_view> words;
  for (const ObjectKind& each : objectKinds()) {
    if (carriesRequests(each)) words.push_back(each.kind);
  }
  const bool exact = std::find(words.begin(), words.end(), kind.kind) != words.end();
  const std::string_view word = exact ? kind.kind : base::closestWord(kind.kind, words);
  // Several groups have Backends. The group of the reader or that of this program is the most likely one.
  const ObjectKind* meant = nullptr;
  for (const ObjectKind& each : objectKinds()) {
    if (!carriesRequests(each) || each.kind != word) continue;
    if (meant == nullptr || each.group == kind.group || (each.group == kOwnGroup && meant->group != kind.group)) {
      meant = &each;
    }
  }
  if (meant == nullptr) return {};
  const std::string group = meant->group.empty() ? "the core group" : std::string(meant->group);
  return "; did you mean " + std::string(word) + " of " + group + "?";
}

}  // namespace sluice::config
