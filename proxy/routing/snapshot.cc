#include "proxy/routing/snapshot.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "proxy/routing/policy/chance.h"

namespace sluice::routing {

// BackendPlan::object is "Backend.sluice.dev/demo/api", or "Service/demo/api".
std::string titleOf(std::string_view object) {
  const std::size_t slash = object.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view kind = object.substr(0, std::min(object.find('.'), slash));
  return std::string(kind) + " " + std::string(object.substr(slash + 1));
}

std::string titleOf(const BackendPlan& plan) { return plan.ofSettings ? std::string() : titleOf(plan.object); }

base::Error Rule::refusal(base::Error error, bool grpc) {
  constexpr std::uint16_t kServiceUnavailable = 503;
  if (grpc) error.status = kServiceUnavailable;
  return error;
}

base::Error Rule::withoutBackend() const {
  if (isRest)
    return {base::ErrorType::kDestinationNotFound, base::ErrorOrigin::kDownstream, "no rule for this request"};
  return refusal(base::Error::config(backends.empty() ? "The route for this request has no backends."
                                                      : "The route for this request has no backend with a weight."),
                 grpc);
}

const WeightedBackend* Rule::choose(std::uint64_t random) const {
  std::uint64_t ticket = scaled(random, totalWeight);
  for (const WeightedBackend& each : backends) {
    if (ticket < each.weight) return &each;
    ticket -= each.weight;
  }
  return nullptr;
}

std::uint64_t Rule::broken() const {
  std::uint64_t broken = 0;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (backends[i].failure) broken |= std::uint64_t{1} << i;
  }
  return broken;
}

std::uint64_t Rule::unfit() const {
  std::uint64_t unfit = broken();
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (backends[i].redirect) unfit |= std::uint64_t{1} << i;
  }
  return unfit;
}

const WeightedBackend* Rule::chooseAnother(std::uint64_t random, std::uint64_t tried) const {
  const auto weightOf = [&](std::size_t index) -> std::uint64_t {
    const WeightedBackend& each = backends[index];
    const bool serves = each.backend && !each.failure && !each.redirect;
    return serves && (tried >> index & 1) == 0 ? each.weight : 0;
  };
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < backends.size(); ++i) total += weightOf(i);
  std::uint64_t ticket = scaled(random, total);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (ticket < weightOf(i)) return &backends[i];
    ticket -= weightOf(i);
  }
  return nullptr;
}

const std::shared_ptr<const BackendPlan>* planFor(const http::RequestHead& request,
                                                  const std::shared_ptr<const BackendPlan>& backend) {
  if (request.body != http::Body::kTunnel) return &backend;
  const bool isStream = request.tunnel == http::Tunnel::kStream;
  if (isStream != (backend->protocol == UpstreamProtocol::kOpaque)) return nullptr;
  return backend->http11 ? &backend->http11 : &backend;
}

std::shared_ptr<const Endpoints> Rule::unhealthyEndpoints(const WeightedBackend& backend,
                                                          base::MonotonicTime now) const {
  const auto position = static_cast<std::size_t>(&backend - backends.data());
  const HealthCheck* const check = healthChecks.empty() ? nullptr : healthChecks[position].get();
  std::shared_ptr<const Endpoints> failing = check != nullptr ? check->failing() : nullptr;
  return backend.outliers ? backend.outliers->ejections->ejectedAnd(std::move(failing), now) : failing;
}

}  // namespace sluice::routing
