// The rules of one hostname of a listener, and a store of them: hostnames with the same routes share them, whatever
// their listener, so that a route of many hostnames at many listeners takes the memory of one. So do the tables of
// successive configurations: a change of one route rebuilds the rules of its own hostnames only.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "proxy/base/cache.h"
#include "proxy/http/message.h"
#include "proxy/routing/table/candidate.h"
#include "proxy/routing/table/path_table.h"
#include "proxy/routing/table/rpc_table.h"

namespace sluice::routing {

/// Immutable once made. A hostname of a listener is for one kind of route (GRPCRouteSpec.hostnames): if it has gRPC
/// calls, it has no paths.
class HostRules {
 public:
  explicit HostRules(const std::vector<std::shared_ptr<const RouteCandidates>>& routes);

  /// `path` is the one that counts for the request.
  const Rule* find(const http::RequestHead& head, std::string_view path) const {
    return calls_ ? calls_->find(head, path) : paths_.find(head, path);
  }
  /// Returns the rule of a CONNECT request; nullptr if no rule takes it.
  const Rule* findConnect(const http::RequestHead& head, std::string_view path) const {
    return connects_ != nullptr ? connects_->find(head, path) : nullptr;
  }
  /// Calls visit() with the Candidates or the Candidate that the path of a request fits, the best first, until it
  /// returns true.
  template <typename Visit>
  void visitFitting(std::string_view path, Visit& visit) const {
    calls_ ? calls_->visitFitting(path, visit) : paths_.visitFitting(path, visit);
  }
  /// Calls each(Candidates or Candidate) for all of them, in no order.
  template <typename Each>
  void forEach(Each& each) const {
    calls_ ? calls_->forEach(each) : paths_.forEach(each);
  }
  /// Returns true if one of them matches by a path other than PathPrefix "/".
  bool selectByPath() const { return selectByPath_; }

 private:
  PathTable paths_;
  std::unique_ptr<PathTable> connects_;  // the matches that take CONNECT; null if there are none
  std::unique_ptr<RpcTable> calls_;      // null if there are none
  bool selectByPath_ = false;
};

/// It belongs to one thread.
class HostRulesStore {
 public:
  using Routes = std::vector<std::shared_ptr<const RouteCandidates>>;

  /// Returns the rules of these routes, made if no hostname had the same ones before.
  std::shared_ptr<const HostRules> of(const Routes& routes);
  /// Ends a configuration: drops the rules that were not asked for since the last one ended.
  void sweep() { made_.sweep(); }

 private:
  base::Cache<Routes, std::shared_ptr<const HostRules>> made_;  // a key keeps its routes, and so their addresses
};

}  // namespace sluice::routing
