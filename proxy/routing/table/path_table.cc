#include "proxy/routing/table/path_table.h"

#include <algorithm>
#include <utility>

namespace sluice::routing {
namespace {

/// Takes the next element off `path`, which starts with "/"; "" where it ends in "/".
std::string_view nextElement(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view element = path.substr(0, path.find('/'));
  path.remove_prefix(element.size());
  return element;
}

/// Returns true if `path` begins with the elements of `prefix`, both of which are empty or start with "/".
bool beginsWith(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

/// Returns the length of the elements with which both paths begin.
std::size_t sharedLength(std::string_view a, std::string_view b) {
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto shared = static_cast<std::size_t>(differ.first - a.begin());
  const auto endsElement = [shared](std::string_view path) { return shared == path.size() || path[shared] == '/'; };
  return endsElement(a) && endsElement(b) ? shared : a.rfind('/', shared - 1);
}

}  // namespace

void PathTable::add(const Candidate& candidate) {
  const Match& match = *candidate.match;
  switch (match.pathKind) {
    case PathKind::kExact:
      exact_[match.path].add(candidate);
      break;
    case PathKind::kPrefix:
      addPrefix(match.path, candidate);
      break;
    case PathKind::kExpression:
      expressions_.push_back(candidate);
      break;
  }
}

void PathTable::addPrefix(std::string_view prefix, const Candidate& candidate) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  Node* node = root_.get();
  while (!prefix.empty()) {
    const std::string_view element = nextElement(prefix);
    std::unique_ptr<Node>& child = node->children[std::string(element)];
    const std::size_t shared = child ? sharedLength(child->rest, prefix) : 0;
    if (!child) {
      child = std::make_unique<Node>();
      child->parent = node;
      child->rest = prefix;
    } else if (shared < child->rest.size()) {
      // The new prefix ends above the child, or leaves its path: a new node in between has the part that they share.
      auto fork = std::make_unique<Node>();
      fork->parent = node;
      fork->rest = child->rest.substr(0, shared);
      std::string_view below = std::string_view(child->rest).substr(shared);
      const std::string key(nextElement(below));
      child->rest = std::string(below);
      child->parent = fork.get();
      fork->children[key] = std::move(child);
      child = std::move(fork);
    }
    node = child.get();
    prefix.remove_prefix(node->rest.size());
  }
  node->candidates.add(candidate);
}

void PathTable::sort() {
  for (auto& [path, candidates] : exact_) candidates.sort();
  std::sort(expressions_.begin(), expressions_.end(), comesBefore);
  sortBelow(*root_);
}

// The depth of the recursion is bounded by the elements of the longest prefix, of at most 1,024 bytes in the API.
void PathTable::sortBelow(Node& node) {
  node.candidates.sort();
  for (auto& [element, child] : node.children) sortBelow(*child);
}

const PathTable::Node* PathTable::deepest(std::string_view path) const {
  const Node* node = root_.get();
  while (path.starts_with('/') && !node->children.empty()) {
    const auto child = node->children.find(nextElement(path));
    if (child == node->children.end() || !beginsWith(path, child->second->rest)) break;
    node = child->second.get();
    path.remove_prefix(node->rest.size());
  }
  return node;
}

const Rule* PathTable::find(const http::RequestHead& head, std::string_view path) const {
  FirstHolding first{head};
  visitFitting(path, first);
  return first.rule;
}

}  // namespace sluice::routing
