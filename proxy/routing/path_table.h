// The rules of one hostname by path: exact paths in a hash map, prefixes in a tree of path elements, expressions in a
// list.
//
// Built by add(), put in order by sort(), then immutable. A look-up costs the length of the path, plus the expressions
// and the candidates that share the matching path; it does not grow with the other routes.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/predicates.h"
#include "proxy/routing/text_map.h"

namespace sluice::routing {

struct Rule;

/// What decides between matches of the same path, the smaller first (Gateway API HTTPRouteRule.matches).
struct Precedence {
  std::string created;      // creationTimestamp of the route, RFC 3339 in UTC: compares as text; "" is the oldest
  std::string route;        // "namespace/name"
  std::uint32_t rule = 0;   // its index in the route
  std::uint32_t match = 0;  // its index in the rule

  auto operator<=>(const Precedence&) const = default;
};

/// A rule, and what besides the path must hold for it.
struct Candidate {
  Predicates predicates;
  Precedence precedence;
  std::shared_ptr<const Rule> rule;
};

class PathTable {
 public:
  void addExact(std::string_view path, Candidate candidate);
  /// `prefix` covers itself and everything below it; a "/" at its end says nothing.
  void addPrefix(std::string_view prefix, Candidate candidate);
  void addExpression(Regex path, Candidate candidate);
  /// To be called once, behind the last add.
  void sort();

  /// The best rule for the request, or nullptr. Exact paths, then expressions, then prefixes from the longest on.
  /// "*" (OPTIONS) is covered by the prefix "/" alone.
  const Rule* find(const http::RequestHead& head) const;

 private:
  using Candidates = std::vector<Candidate>;
  /// One path element; the root stands for "/". Children belong to their parent and never move.
  struct Node {
    const Node* parent = nullptr;
    Candidates candidates;
    TextMap<std::unique_ptr<Node>> children;
  };

  static const Rule* firstHolding(const Candidates& candidates, const http::RequestHead& head);
  static void sortBelow(Node& node);
  const Node* deepest(std::string_view path) const;

  TextMap<Candidates> exact_;
  std::vector<std::pair<Regex, Candidate>> expressions_;
  std::unique_ptr<Node> root_ = std::make_unique<Node>();
};

}  // namespace sluice::routing
