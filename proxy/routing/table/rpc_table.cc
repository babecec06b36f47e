#include "proxy/routing/table/rpc_table.h"

#include <algorithm>

namespace sluice::routing {

bool RpcTable::matches(const Match& match, const CallName& call) {
  return (!match.rpcService || match.rpcService->matches(call.service)) &&
         (!match.rpcMethod || match.rpcMethod->matches(call.method));
}

void RpcTable::add(const Candidate& candidate) {
  const RpcPattern& rpc = *candidate.match->rpc;
  if (rpc.service.empty() && rpc.method.empty()) {
    all_.add(candidate);
  } else if (rpc.isExpression) {
    (rpc.service.empty() ? methodExpressions_ : serviceExpressions_).push_back(candidate);
  } else if (rpc.service.empty()) {
    methods_[rpc.method].add(candidate);
  } else {
    Methods& methods = services_[rpc.service];
    (rpc.method.empty() ? methods.any : methods.exact[rpc.method]).add(candidate);
  }
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
  std::sort(expressions.begin(), expressions.end(), [](const Candidate& a, const Candidate& b) {
    const RpcPattern& rpcA = *a.match->rpc;
    const RpcPattern& rpcB = *b.match->rpc;
    if (rpcA.service.size() != rpcB.service.size()) return rpcA.service.size() > rpcB.service.size();
    if (rpcA.method.size() != rpcB.method.size()) return rpcA.method.size() > rpcB.method.size();
    return comesBefore(a, b);
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

const Rule* RpcTable::find(const http::RequestHead& head, std::string_view path) const {
  FirstHolding first{head};
  visitFitting(path, first);
  return first.rule;
}

}  // namespace sluice::routing
