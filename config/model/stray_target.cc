#include "config/model/stray_target.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "config/model/object_kinds.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

PolicyTarget targetOf(const PolicyTargetSelector& selector) {
  PolicyTarget target;
  target.object.group = selector.group;
  target.object.kind = selector.kind;
  return target;
}

}  // namespace

bool isStray(const PolicyTarget& target) {
  const ObjectRef& object = target.object;
  // A policy for a kind of another API is written for another gateway, also where an object of ours has the name: that
  // of a ServiceImport is by design the name of its Service.
  if (object.kind.empty() || (target.groupLegible && isUnsupportedKind(object.group, object.kind))) return false;
  const std::span<const ObjectKind> kinds = objectKinds();
  return std::none_of(kinds.begin(), kinds.end(), [&](const ObjectKind& each) {
    return carriesRequests(each) && each.kind == object.kind && (!target.groupLegible || each.group == object.group);
  });
}

bool isStray(const PolicyTargetSelector& selector) { return isStray(targetOf(selector)); }

std::string nearestTargetKind(const PolicyTargetSelector& selector) { return nearestTargetKind(targetOf(selector)); }

std::string nearestTargetKind(const PolicyTarget& target) {
  const ObjectRef& object = target.object;
  std::vector<std::string_view> words;
  for (const ObjectKind& each : objectKinds()) {
    if (carriesRequests(each)) words.push_back(each.kind);
  }
  const bool exact = std::find(words.begin(), words.end(), object.kind) != words.end();
  const std::string_view word = exact ? std::string_view(object.kind) : base::closestWord(object.kind, words);
  // Several groups have Backends, of which the reader's own or this program's is the likeliest.
  const ObjectKind* meant = nullptr;
  for (const ObjectKind& each : objectKinds()) {
    if (!carriesRequests(each) || each.kind != word) continue;
    if (meant == nullptr || each.group == object.group || (each.group == kOwnGroup && meant->group != object.group)) {
      meant = &each;
    }
  }
  if (meant == nullptr) return {};
  const std::string group = meant->group.empty() ? "the core group" : std::string(meant->group);
  return "; did you mean " + std::string(word) + " of " + group + "?";
}

}  // namespace sluice::config
