#include "proxy/compile/status/unkept_bodies.h"

#include <algorithm>
#include <set>

#include "proxy/compile/gateways/checked_backends.h"

namespace sluice::compile {
namespace {

/// Returns the most bytes that the step of a Backend holds for each of its attempts; 0 if it holds none, or has no
/// bound of its own.
std::uint64_t heldByAttempt(const processing::Step& step, const base::LimitSettings& limits) {
  const bool holds = step.body.mode == processing::BodyMode::kBuffered || processing::isInspected(step.body.mode);
  return holds && !step.preAuth ? std::min(step.body.bound, limits.processorBuffer) : 0;
}

}  // namespace

std::vector<UnkeptBody> unkeptBodies(const std::vector<GatewayPlan>& gateways, const base::LimitSettings& limits) {
  std::set<UnkeptBody> found;
  eachRule(gateways, [&](const ListenerPlan&, const routing::Rule& rule) {
    if (!rule.retry) return;
    const std::uint64_t kept = rule.retry->keptOf(limits);
    for (const routing::WeightedBackend& weighted : rule.backends) {
      if (weighted.backend == nullptr) continue;
      const auto& chain = weighted.chain ? weighted.chain : weighted.backend->chain;
      if (chain == nullptr) continue;
      for (const processing::Step& step : chain->of(processing::Phase::kRequestBody)) {
        const std::uint64_t held = heldByAttempt(step, limits);
        if (held > kept) found.insert({rule.route, rule.grpc, weighted.backend->name, step.name, held, kept});
      }
    }
  });
  return {found.begin(), found.end()};
}

}  // namespace sluice::compile
