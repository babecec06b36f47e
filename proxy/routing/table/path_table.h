// The rules of one hostname by path: exact paths in a hash map, prefixes in a tree of path elements, expressions in a
// list.
//
// Built by add(), put in order by sort(), then immutable. A look-up costs the length of the path, plus the expressions;
// it does not grow with the other routes, whether they have other paths or the same one (candidate_index.h).
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidates.h"
#include "proxy/routing/table/regex.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

class PathTable {
 public:
  void addExact(std::string_view path, Candidate candidate);
  /// Adds a rule for `prefix`, which covers itself and everything below it; a "/" at its end has no meaning.
  void addPrefix(std::string_view prefix, Candidate candidate);
  void addExpression(Regex path, Candidate candidate);
  /// To be called once, behind the last add.
  void sort();

  /// Returns the best rule for the request, or nullptr. Exact paths come first, then expressions, then prefixes from
  /// the longest on. "*" (OPTIONS) is covered by the prefix "/" alone.
  const Rule* find(const http::RequestHead& head) const;

 private:
  /// One path element; the root stands for "/". Children belong to their parent and never move.
  struct Node {
    const Node* parent = nullptr;
    Candidates candidates;
    TextMap<std::unique_ptr<Node>> children;
  };

  static void sortBelow(Node& node);
  const Node* deepest(std::string_view path) const;

  TextMap<Candidates> exact_;
  std::vector<std::pair<Regex, Candidate>> expressions_;
  std::unique_ptr<Node> root_ = std::make_unique<Node>();
};

}  // namespace sluice::routing
