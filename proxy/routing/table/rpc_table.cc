#include "proxy/routing/table/rpc_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::routing {
namespace {

base::Result<std::optional<Regex>> compileNonEmpty(const std::string& pattern) {
  if (pattern.empty()) return std::optional<Regex>();
  auto compiled = Regex::compile(pattern);
  if (!compiled) return std::move(compiled).error();
  return std::optional<Regex>(std::move(compiled).value());
}

}  // namespace

bool RpcTable::Expression::matches(const CallName& call) const {
  return (!service || service->matches(call.service)) && (!method || method->matches(call.method));
}

base::Status RpcTable::add(const RpcPattern& pattern, Candidate candidate) {
  if (pattern.service.empty() && pattern.method.empty()) {
    all_.add(std::move(candidate));
    return base::Done{};
  }
  if (!pattern.isExpression) {
    if (pattern.service.empty()) {
      methods_[pattern.method].add(std::move(candidate));
      return base::Done{};
    }
    Methods& methods = services_[pattern.service];
    (pattern.method.empty() ? methods.any : methods.exact[pattern.method]).add(std::move(candidate));
    return base::Done{};
  }
  auto service = compileNonEmpty(pattern.service);
  if (!service) return std::move(service).error();
  auto method = compileNonEmpty(pattern.method);
  if (!method) return std::move(method).error();
  (pattern.service.empty() ? methodExpressions_ : serviceExpressions_)
      .push_back({std::move(service).value(), std::move(method).value(), pattern.service.size(), pattern.method.size(),
                  std::move(candidate)});
  return base::Done{};
}

void RpcTable::sort() {
  for (auto& [service, methods] : services_) sort(methods);
  for (auto& [method, candidates] : methods_) candidates.sort();
  sort(serviceExpressions_);
  sort(methodExpressions_);
  all_.sort();
}

void RpcTable::sort(Methods& methods) {
  for (auto& [method, candidates] : methods.exact) candidates.sort();
  methods.any.sort();
}

void RpcTable::sort(Expressions& expressions) {
  std::sort(expressions.begin(), expressions.end(), [](const Expression& a, const Expression& b) {
    if (a.serviceLength != b.serviceLength) return a.serviceLength > b.serviceLength;
    if (a.methodLength != b.methodLength) return a.methodLength > b.methodLength;
    return comesBefore(a.candidate, b.candidate);
  });
}

// gRPC over HTTP/2, "Path": "/" service "/" method.
std::optional<RpcTable::CallName> RpcTable::callOf(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == path.size()) return std::nullopt;
  return CallName{path.substr(0, slash), path.substr(slash + 1)};
}

const Rule* RpcTable::firstHolding(const Methods& methods, const CallName& call, const http::RequestHead& head) {
  if (const auto exact = methods.exact.find(call.method); exact != methods.exact.end()) {
    if (const Rule* rule = exact->second.firstHolding(head)) return rule;
  }
  return methods.any.firstHolding(head);
}

const Rule* RpcTable::firstHolding(const Expressions& expressions, const CallName& call,
                                   const http::RequestHead& head) {
  for (const Expression& each : expressions) {
    if (each.matches(call) && each.candidate.predicates.hold(head)) return each.candidate.rule.get();
  }
  return nullptr;
}

const Rule* RpcTable::find(const CallName& call, const http::RequestHead& head) const {
  if (const auto service = services_.find(call.service); service != services_.end()) {
    if (const Rule* rule = firstHolding(service->second, call, head)) return rule;
  }
  if (const Rule* rule = firstHolding(serviceExpressions_, call, head)) return rule;
  if (const auto method = methods_.find(call.method); method != methods_.end()) {
    if (const Rule* rule = method->second.firstHolding(head)) return rule;
  }
  return firstHolding(methodExpressions_, call, head);
}

const Rule* RpcTable::find(const http::RequestHead& head) const {
  if (const std::optional<CallName> call = callOf(head.path())) {
    if (const Rule* rule = find(*call, head)) return rule;
  }
  return all_.firstHolding(head);
}

}  // namespace sluice::routing
