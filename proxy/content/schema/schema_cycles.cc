#include "proxy/content/schema/schema_cycles.h"

#include <unordered_map>

namespace sluice::content {
namespace {

/// Returns the schemas against which a value is checked, too, if it is checked against this one.
SchemaNodes inPlaceBelow(const SchemaNode& node) {
  SchemaNodes below;
  if (!node.inPlace) return below;
  const InPlaceRules& rules = *node.inPlace;
  below = {rules.ref, rules.inverted, rules.condition};
  if (rules.dynamicAnchor.empty()) below.push_back(rules.dynamicRef);
  if (rules.condition != nullptr) below.insert(below.end(), {rules.then, rules.otherwise});
  for (const SchemaNodes* list : {&rules.allOf, &rules.anyOf, &rules.oneOf}) {
    below.insert(below.end(), list->begin(), list->end());
  }
  for (const auto& [name, schema] : rules.dependent) below.push_back(schema);
  std::erase(below, nullptr);
  return below;
}

/// Walks in depth, without using the stack.
class CycleSearch {
 public:
  const SchemaNode* from(const SchemaNode& start) {
    enter(start);
    while (!path_.empty()) {
      PathStep& step = path_.back();
      if (step.below.empty()) {
        isOpen_[step.node] = false;
        path_.pop_back();
        continue;
      }
      const SchemaNode* next = step.below.back();
      step.below.pop_back();
      const auto seen = isOpen_.find(next);
      if (seen == isOpen_.end()) {
        enter(*next);
      } else if (seen->second) {
        return next;
      }
    }
    return nullptr;
  }

  bool hasSeen(const SchemaNode& node) const { return isOpen_.find(&node) != isOpen_.end(); }

 private:
  struct PathStep {
    const SchemaNode* node;
    SchemaNodes below;
  };

  void enter(const SchemaNode& node) {
    isOpen_[&node] = true;
    path_.push_back({&node, inPlaceBelow(node)});
  }

  std::vector<PathStep> path_;
  std::unordered_map<const SchemaNode*, bool> isOpen_;  // true while the node is on the path
};

}  // namespace

const SchemaNode* findInPlaceCycle(const std::deque<SchemaNode>& nodes) {
  CycleSearch search;
  for (const SchemaNode& node : nodes) {
    if (!node.inPlace || search.hasSeen(node)) continue;
    if (const SchemaNode* found = search.from(node)) return found;
  }
  return nullptr;
}

}  // namespace sluice::content
