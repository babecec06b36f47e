// The rules of one hostname by gRPC service and method ("/service/method"), as GRPCRoutes name them.
//
// The precedence is Gateway API's (GRPCRouteRule.matches): the longer service, the longer method, more header fields,
// then the older route. An exact name comes before an expression, and that before none. Built by add(), put in order by
// sort(), then immutable. A look-up among exact names does not grow with the other routes.
#pragma once

#include <algorithm>
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

  /// Returns the best rule for the request, of which that path counts, or nullptr.
  const Rule* find(const http::RequestHead& head, std::string_view path) const;

  /// Calls visit() with the Candidates or the Candidate whose service and method fit the path of a request, the best
  /// first, until it returns true.
  template <typename Visit>
  void visitFitting(std::string_view path, Visit& visit) const {
    const std::optional<CallName> call = callOf(path);
    if (!call || !visitNamed(*call, visit)) visit(all_);
  }
  /// Calls each(Candidates or Candidate) for all of them, in no order.
  template <typename Each>
  void forEach(Each& each) const {
    for (const auto& [service, methods] : services_) {
      for (const auto& [method, candidates] : methods.exact) each(candidates);
      each(methods.any);
    }
    for (const auto& [method, candidates] : methods_) each(candidates);
    for (const Expressions* expressions : {&serviceExpressions_, &methodExpressions_}) {
      for (const Candidate& candidate : *expressions) each(candidate);
    }
    each(all_);
  }

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

  template <typename Visit>
  static bool visitMatching(const Expressions& expressions, const CallName& call, Visit& visit) {
    return std::any_of(expressions.begin(), expressions.end(),
                       [&](const Candidate& each) { return matches(*each.match, call) && visit(each); });
  }
  template <typename Visit>
  bool visitNamed(const CallName& call, Visit& visit) const {
    if (const auto service = services_.find(call.service); service != services_.end()) {
      const Methods& methods = service->second;
      const auto exact = methods.exact.find(call.method);
      if (exact != methods.exact.end() && visit(exact->second)) return true;
      if (visit(methods.any)) return true;
    }
    if (visitMatching(serviceExpressions_, call, visit)) return true;
    if (const auto method = methods_.find(call.method); method != methods_.end() && visit(method->second)) return true;
    return visitMatching(methodExpressions_, call, visit);
  }

  TextMap<Methods> services_;
  Expressions serviceExpressions_;
  TextMap<Candidates> methods_;  // of any service
  Expressions methodExpressions_;
  Candidates all_;
};

}  // namespace sluice::routing
