// The rules of one hostname by gRPC service and method ("/service/method"), as GRPCRoutes name them.
//
// The precedence is Gateway API's (GRPCRouteRule.matches): the longer service, the longer method, more header fields,
// then the older route. An exact name comes before an expression, and that before none. Built by add(), put in order by
// sort(), then immutable. A look-up among exact names does not grow with the other routes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/http/message.h"
#include "proxy/routing/table/candidates.h"
#include "proxy/routing/table/regex.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

/// The service and method of a rule; an empty one takes all.
struct RpcPattern {
  std::string service;
  std::string method;
  bool isExpression = false;  // both of them
};

class RpcTable {
 public:
  /// Adds a rule. An error (of the configuration: RE2 refuses an expression) leaves the table as it was.
  base::Status add(const RpcPattern& pattern, Candidate candidate);
  /// To be called once, behind the last add.
  void sort();

  /// Returns the best rule for the request, or nullptr.
  const Rule* find(const http::RequestHead& head) const;

 private:
  struct CallName {
    std::string_view service;
    std::string_view method;
  };
  /// The rules that require no service, or only this one.
  struct Methods {
    TextMap<Candidates> exact;
    Candidates any;
  };
  struct Expression {
    std::optional<Regex> service;
    std::optional<Regex> method;
    std::size_t serviceLength;
    std::size_t methodLength;
    Candidate candidate;

    bool matches(const CallName& call) const;
  };
  using Expressions = std::vector<Expression>;

  static std::optional<CallName> callOf(std::string_view path);
  static void sort(Methods& methods);
  static void sort(Expressions& expressions);
  static const Rule* firstHolding(const Methods& methods, const CallName& call, const http::RequestHead& head);
  static const Rule* firstHolding(const Expressions& expressions, const CallName& call, const http::RequestHead& head);
  const Rule* find(const CallName& call, const http::RequestHead& head) const;

  TextMap<Methods> services_;
  Expressions serviceExpressions_;
  TextMap<Candidates> methods_;  // of any service
  Expressions methodExpressions_;
  Candidates all_;
};

}  // namespace sluice::routing
