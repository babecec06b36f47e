// The rules of one hostname by gRPC service and method ("/service/method"), as GRPCRoutes name them.
//
// The precedence is Gateway API's (GRPCRouteRule.matches): the longer service, the longer method, more header fields,
// then the older route. An exact name comes before an expression, and that before none. Built by add(), put in order by
// sort(), then immutable. A look-up among exact names does not grow with the other routes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/message.h"
#include "proxy/routing/table/candidates.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

class RpcTable {
 public:
  /// Adds a rule by the rpc of its match, which has one.
  void add(const Candidate& candidate);
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
  using Expressions = std::vector<Candidate>;

  static std::optional<CallName> callOf(std::string_view path);
  static bool matches(const Match& match, const CallName& call);
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
