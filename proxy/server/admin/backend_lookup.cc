#include "proxy/server/admin/backend_lookup.h"

#include <algorithm>
#include <utility>

#include "proxy/control/explain/explained_backend.h"
#include "proxy/control/explain/explained_egress.h"

namespace sluice::server {

base::Status BackendLookup::begin(net::Worker& worker, std::function<void()> done) {
  auto resolver = net::makeResolver(worker, snapshot_->settings.dns);
  if (!resolver) return resolver.error();
  resolver_ = std::move(*resolver);
  for (const control::ExplainedBackend& each : explanation_.backends) open_ += each.unresolved ? 1 : 0;
  if (open_ == 0) {
    worker.post(std::move(done));
    return base::Done{};
  }
  // The resolver must not be destroyed by the function that it calls.
  const auto answered = [this, &worker, done = std::move(done)] {
    if (--open_ > 0) return;
    settle();
    worker.post(done);
  };
  for (const control::ExplainedBackend& each : explanation_.backends) {
    if (each.unresolved) resolver_->resolve(each.hostname, each.dns, answered);
  }
  return base::Done{};
}

void BackendLookup::settle() {
  for (control::ExplainedBackend& each : explanation_.backends) {
    const auto* resolved = each.unresolved ? resolver_->cached(each.hostname, each.dns) : nullptr;
    if (resolved != nullptr) control::addResolved(each, *resolved, snapshot_->addressGuard);
  }
  control::settleEgress(explanation_);
}

}  // namespace sluice::server
