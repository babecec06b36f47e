#include "config/status/history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/model/name_tuple_hash.h"

namespace sluice::config {
namespace {

ObjectNameView viewOf(const ObjectStatus& status) { return {status.group, status.kind, status.nameSpace, status.name}; }

/// Finds statuses by the names of their objects. It is fast if two lists have the same objects in the same order, as
/// they mostly do.
class StatusFinder {
 public:
  explicit StatusFinder(const StatusList& statuses) : statuses_(statuses) {}

  /// Returns nullptr if there is none.
  StatusList::Shared find(const ObjectStatus& like) {
    if (next_ < statuses_.size() && viewOf(statuses_[next_]) == viewOf(like)) return statuses_.shared(next_++);
    if (places_.empty()) {
      for (std::size_t i = 0; i < statuses_.size(); ++i) places_.emplace(viewOf(statuses_[i]), i);
    }
    const auto found = places_.find(viewOf(like));
    if (found == places_.end()) return nullptr;
    next_ = found->second + 1;
    return statuses_.shared(found->second);
  }

 private:
  const StatusList& statuses_;
  std::size_t next_ = 0;
  std::unordered_map<ObjectNameView, std::size_t, NameTupleHash> places_;
};

template <typename List, typename Same>
bool sameLists(const List& a, const List& b, const Same& same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool sameReference(const ParentRef& a, const ParentRef& b) {
  const auto all = [](const ParentRef& ref) {
    return std::tie(ref.object.group, ref.object.kind, ref.object.nameSpace, ref.object.name, ref.sectionName,
                    ref.port);
  };
  return all(a) == all(b);
}

/// Compares everything except the history of a new status with a status that has its history.
class Sameness {
 public:
  explicit Sameness(const ObjectStatus& before) : before_(before) {}

  bool holds(const ObjectStatus& now) const {
    const auto texts = [](const ObjectStatus& each) {
      return std::tie(each.group, each.kind, each.nameSpace, each.name, each.shape, each.revision, each.servedRevision,
                      each.supportedFeatures);
    };
    return texts(now) == texts(before_) && same(now.conditions, before_.conditions) &&
           sameParts(now.listeners, before_.listeners) && sameParts(now.parents, before_.parents) &&
           sameParts(now.controllers, before_.controllers) &&
           sameLists(now.addresses, before_.addresses, [](const AddressStatus& a, const AddressStatus& b) {
             return a.type == b.type && a.value == b.value;
           });
  }

 private:
  bool same(const std::vector<Condition>& now, const std::vector<Condition>& before) const {
    return sameLists(now, before, [this](const Condition& a, const Condition& b) {
      return a.status == b.status && a.observedGeneration.value_or(before_.changes) == b.observedGeneration &&
             std::tie(a.type, a.reason, a.message) == std::tie(b.type, b.reason, b.message);
    });
  }

  static bool sameHead(const ListenerStatus& a, const ListenerStatus& b) {
    return a.name == b.name && a.attachedRoutes == b.attachedRoutes && a.supportedKinds == b.supportedKinds;
  }
  static bool sameHead(const ParentStatus& a, const ParentStatus& b) {
    return sameReference(a.parentRef, b.parentRef) && a.controllerName == b.controllerName;
  }
  static bool sameHead(const ControllerStatus& a, const ControllerStatus& b) { return a.name == b.name; }

  template <typename Part>
  bool sameParts(const std::vector<Part>& now, const std::vector<Part>& before) const {
    return sameLists(now, before, [this](const Part& a, const Part& b) {
      return sameHead(a, b) && same(a.conditions, b.conditions);
    });
  }

  const ObjectStatus& before_;
};

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

void carryHistory(StatusList& statuses, const StatusList& before, base::WallTime now) {
  StatusFinder finder(before);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    StatusList::Shared known = finder.find(statuses[i]);
    if (known != nullptr && Sameness(*known).holds(statuses[i])) {
      statuses.replace(i, std::move(known));
      continue;
    }
    ObjectStatus status = statuses[i];
    status.changes = known == nullptr ? 1 : known->changes + (known->revision == status.revision ? 0 : 1);
    if (!status.servedRevision.empty()) {
      const bool same = known != nullptr && known->servedRevision == status.servedRevision;
      status.servedSince = same ? known->servedSince : now;
    }
    Transitions(status.changes, now).carry(status, known.get());
    statuses.replace(i, std::make_shared<const ObjectStatus>(std::move(status)));
  }
}

}  // namespace sluice::config
