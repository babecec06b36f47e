#include "config/status/history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>

#include "config/model/name_tuple_hash.h"

namespace sluice::config {
namespace {

ObjectNameView viewOf(const ObjectStatus& status) { return {status.group, status.kind, status.nameSpace, status.name}; }

/// Finds statuses by the names of their objects. Two lists mostly have the same objects in the same order.
class StatusFinder {
 public:
  explicit StatusFinder(const std::vector<ObjectStatus>& statuses) : statuses_(statuses) {}

  /// Returns nullptr if there is none.
  const ObjectStatus* find(const ObjectStatus& like) {
    if (next_ < statuses_.size() && viewOf(statuses_[next_]) == viewOf(like)) return &statuses_[next_++];
    if (places_.empty()) {
      for (std::size_t i = 0; i < statuses_.size(); ++i) places_.emplace(viewOf(statuses_[i]), i);
    }
    const auto found = places_.find(viewOf(like));
    if (found == places_.end()) return nullptr;
    next_ = found->second + 1;
    return &statuses_[found->second];
  }

 private:
  const std::vector<ObjectStatus>& statuses_;
  std::size_t next_ = 0;
  std::unordered_map<ObjectNameView, std::size_t, NameTupleHash> places_;
};

bool sameReference(const ParentRef& a, const ParentRef& b) {
  const auto all = [](const ParentRef& ref) {
    return std::tie(ref.object.group, ref.object.kind, ref.object.nameSpace, ref.object.name, ref.sectionName,
                    ref.port);
  };
  return all(a) == all(b);
}

/// Carries the times of an object's conditions.
class Transitions {
 public:
  Transitions(std::int64_t generation, base::WallTime now) : generation_(generation), now_(now) {}

  void carry(ObjectStatus& status, const ObjectStatus* before) const {
    carry(status.conditions, before == nullptr ? nullptr : &before->conditions);
    carryLists(status.listeners, before == nullptr ? nullptr : &before->listeners,
               [](const ListenerStatus& a, const ListenerStatus& b) { return a.name == b.name; });
    carryLists(status.parents, before == nullptr ? nullptr : &before->parents,
               [](const ParentStatus& a, const ParentStatus& b) { return sameReference(a.parentRef, b.parentRef); });
    carryLists(status.controllers, before == nullptr ? nullptr : &before->controllers,
               [](const ControllerStatus& a, const ControllerStatus& b) { return a.name == b.name; });
  }

 private:
  void carry(std::vector<Condition>& conditions, const std::vector<Condition>* before) const {
    for (Condition& each : conditions) {
      const Condition* known = before == nullptr ? nullptr : findCondition(*before, each.type);
      each.lastTransitionTime = known != nullptr && known->status == each.status ? known->lastTransitionTime : now_;
      if (!each.observedGeneration) each.observedGeneration = generation_;
    }
  }

  template <typename Part, typename Same>
  void carryLists(std::vector<Part>& parts, const std::vector<Part>* before, const Same& same) const {
    for (Part& part : parts) {
      const std::vector<Condition>* known = nullptr;
      if (before != nullptr) {
        const auto found =
            std::find_if(before->begin(), before->end(), [&](const Part& each) { return same(each, part); });
        if (found != before->end()) known = &found->conditions;
      }
      carry(part.conditions, known);
    }
  }

  const std::int64_t generation_;
  const base::WallTime now_;
};

}  // namespace

void carryHistory(std::vector<ObjectStatus>& statuses, const std::vector<ObjectStatus>& before, base::WallTime now) {
  StatusFinder finder(before);
  for (ObjectStatus& status : statuses) {
    const ObjectStatus* known = finder.find(status);
    status.changes = known == nullptr ? 1 : known->changes + (known->revision == status.revision ? 0 : 1);
    if (!status.servedRevision.empty()) {
      const bool same = known != nullptr && known->servedRevision == status.servedRevision;
      status.servedSince = same ? known->servedSince : now;
    }
    Transitions(status.changes, now).carry(status, known);
  }
}

}  // namespace sluice::config
