#include "proxy/routing/table/path_table.h"

#include <algorithm>

namespace sluice::routing {
namespace {

/// Takes the next element off `path`, which starts with "/" or is empty; "" where it ends in "/".
std::string_view nextElement(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view element = path.substr(0, path.find('/'));
  path.remove_prefix(element.size());
  return element;
}

}  // namespace

void PathTable::addExact(std::string_view path, Candidate candidate) {
  exact_[std::string(path)].add(std::move(candidate));
}

void PathTable::addPrefix(std::string_view prefix, Candidate candidate) {
  Node* node = root_.get();
  while (!prefix.empty()) {
    const std::string_view element = nextElement(prefix);
    if (element.empty() && prefix.empty()) break;
    std::unique_ptr<Node>& child = node->children[std::string(element)];
    if (!child) {
      child = std::make_unique<Node>();
      child->parent = node;
    }
    node = child.get();
  }
  node->candidates.add(std::move(candidate));
}

void PathTable::addExpression(Regex path, Candidate candidate) {
  expressions_.emplace_back(std::move(path), std::move(candidate));
}

void PathTable::sort() {
  for (auto& [path, candidates] : exact_) candidates.sort();
  std::sort(expressions_.begin(), expressions_.end(),
            [](const auto& a, const auto& b) { return comesBefore(a.second, b.second); });
  sortBelow(*root_);
}

void PathTable::sortBelow(Node& node) {
  node.candidates.sort();
  for (auto& [element, child] : node.children) sortBelow(*child);
}

const PathTable::Node* PathTable::deepest(std::string_view path) const {
  const Node* node = root_.get();
  while (path.starts_with('/') && !node->children.empty()) {
    const auto child = node->children.find(nextElement(path));
    if (child == node->children.end()) break;
    node = child->second.get();
  }
  return node;
}

const Rule* PathTable::find(const http::RequestHead& head) const {
  const std::string_view path = head.path();
  if (!exact_.empty()) {
    const auto exact = exact_.find(path);
    const Rule* rule = exact != exact_.end() ? exact->second.firstHolding(head) : nullptr;
    if (rule != nullptr) return rule;
  }
  for (const auto& [expression, candidate] : expressions_) {
    if (expression.matches(path) && candidate.predicates.hold(head)) return candidate.rule.get();
  }
  for (const Node* node = deepest(path); node != nullptr; node = node->parent) {
    if (const Rule* rule = node->candidates.firstHolding(head)) return rule;
  }
  return nullptr;
}

}  // namespace sluice::routing
