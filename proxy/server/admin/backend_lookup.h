// Resolves the names of the Backends of one explanation as a worker would, and adds their addresses with the verdicts
// of the address guard and of EgressPolicies. It has a resolver of its own, with the settings of the snapshot.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "proxy/base/result.h"
#include "proxy/control/explain/explanation.h"
#include "proxy/net/dns/resolver.h"
#include "proxy/routing/snapshot.h"

namespace sluice::server {

class BackendLookup {
 public:
  /// The snapshot is the one that was explained.
  BackendLookup(control::Explanation explanation, std::shared_ptr<const routing::Snapshot> snapshot)
      : explanation_(std::move(explanation)), snapshot_(std::move(snapshot)) {}
  BackendLookup(const BackendLookup&) = delete;
  BackendLookup& operator=(const BackendLookup&) = delete;

  /// Begins inside a Turn of the worker, which outlives the lookup. `done` is called in a later Turn, unless the loop
  /// ends before, and may destroy the lookup. Bounded in time by the settings of `dns`. Fails as makeResolver() does.
  base::Status begin(net::Worker& worker, std::function<void()> done);
  /// Returns the explanation, with the addresses when it is done.
  const control::Explanation& explanation() const { return explanation_; }

 private:
  void settle();

  control::Explanation explanation_;
  const std::shared_ptr<const routing::Snapshot> snapshot_;
  std::unique_ptr<net::Resolver> resolver_;
  std::size_t open_ = 0;  // the names that are not answered yet
};

}  // namespace sluice::server
