// The rules of one hostname by path: exact paths in a hash map, prefixes in a tree of path elements, expressions in a
// list.
//
// Built by add(), put in order by sort(), then immutable. A look-up costs the length of the path, plus the expressions;
// it does not grow with the other routes, whether they have other paths or the same one (candidate_index.h). The tree
// takes memory by the number of prefixes and not by that of their elements.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidates.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

class PathTable {
 public:
  /// Adds a rule by the path of its match. A prefix covers itself and everything below it; a "/" at its end has no
  /// meaning.
  void add(const Candidate& candidate);
  /// To be called once, behind the last add.
  void sort();

  /// Returns the best rule for the request, of which that path counts, or nullptr.
  const Rule* find(const http::RequestHead& head, std::string_view path) const;

  /// Calls visit() with the Candidates or the Candidate whose path fits the one of a request, the best first, until it
  /// returns true. Exact paths come first, then expressions, then prefixes from the longest on. "*" (OPTIONS) is
  /// covered by the prefix "/" alone.
  template <typename Visit>
  void visitFitting(std::string_view path, Visit& visit) const {
    if (!exact_.empty()) {
      const auto exact = exact_.find(path);
      if (exact != exact_.end() && visit(exact->second)) return;
    }
    for (const Candidate& each : expressions_) {
      if (each.match->expression->matches(path) && visit(each)) return;
    }
    for (const Node* node = deepest(path); node != nullptr; node = node->parent) {
      if (visit(node->candidates)) return;
    }
  }
  /// Calls each(Candidates or Candidate) for all of them, in no order.
  template <typename Each>
  void forEach(Each& each) const {
    for (const auto& [path, candidates] : exact_) each(candidates);
    for (const Candidate& candidate : expressions_) each(candidate);
    forEachBelow(*root_, each);
  }

 private:
  /// A path at which a prefix ends, or at which two of them part; the root is "/". Children belong to their parent.
  struct Node {
    const Node* parent = nullptr;
    std::string rest;  // the path below the parent, without its first element: "", or "/b/c"
    Candidates candidates;
    TextMap<std::unique_ptr<Node>> children;  // by the first element below this node
  };

  template <typename Each>
  static void forEachBelow(const Node& node, Each& each) {
    each(node.candidates);
    for (const auto& [element, child] : node.children) forEachBelow(*child, each);
  }

  void addPrefix(std::string_view prefix, const Candidate& candidate);
  static void sortBelow(Node& node);
  const Node* deepest(std::string_view path) const;

  TextMap<Candidates> exact_;
  std::vector<Candidate> expressions_;
  std::unique_ptr<Node> root_ = std::make_unique<Node>();
};

}  // namespace sluice::routing
