#include "proxy/routing/policy/endpoint_ejections.h"

#include <iterator>
#include <utility>

namespace sluice::routing {
namespace {

constexpr std::uint64_t kPercent = 100;
/// The addresses of a name may be ever others.
constexpr std::size_t kMostRemembered = 4096;
constexpr base::Duration kForgetPeriod = std::chrono::seconds(10);

}  // namespace

void EndpointEjections::onAnswer(const Endpoint& endpoint, base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                 const CurrentEndpoints& current) const {
  if (!heedsAnswers(bounds)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  forgetSome(now, bounds, current);
  if (bounds.failurePercent != 0) {
    remember(endpoint, now).health.onAnswer(now, bounds);
  } else if (const auto found = endpoints_.find(endpoint); found != endpoints_.end()) {
    found->second.heard = now;
    found->second.health.onAnswer(now, bounds);
    if (!found->second.health.matters(now, bounds)) endpoints_.erase(found);
  }
  isSuspicious_.store(!endpoints_.empty(), std::memory_order_relaxed);
}

std::optional<Ejection> EndpointEjections::onError(const Endpoint& endpoint, const PeerFailure& failure,
                                                   const PassiveHealthBounds& bounds,
                                                   const CurrentEndpoints& current) const {
  const base::MonotonicTime now = failure.now;
  const std::lock_guard<std::mutex> lock(mutex_);
  forgetSome(now, bounds, current);
  const AnswerHealth& health = remember(endpoint, now).health;
  isSuspicious_.store(true, std::memory_order_relaxed);
  const auto cause = health.onError(now, bounds, failure.isGatewayError);
  if (!cause || ejectedOf(current, now) * kPercent >= bounds.ejectedPercent * current.count) return std::nullopt;
  const std::optional<base::Duration> time = health.eject(now, bounds, failure.at);
  if (!time) return std::nullopt;
  haveEjected_.store(true, std::memory_order_relaxed);
  renewLater();
  return Ejection{*cause, *time};
}

void EndpointEjections::endEjection(const Endpoint& endpoint, base::MonotonicTime now) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = endpoints_.find(endpoint);
  if (found == endpoints_.end()) return;
  found->second.health.endEjection(now);
  renewLater();
}

std::shared_ptr<const Endpoints> EndpointEjections::ejectedAnd(std::shared_ptr<const Endpoints> failing,
                                                               base::MonotonicTime now) const {
  if (!someEjected_.load(std::memory_order_relaxed)) return failing;
  const std::lock_guard<std::mutex> lock(mutex_);
  renewIfStale(now);
  if (failing == nullptr || ejected_ == nullptr) return failing != nullptr ? failing : ejected_;
  if (both_ == nullptr || failing_ != failing) {
    auto both = std::make_shared<Endpoints>();
    std::set_union(failing->begin(), failing->end(), ejected_->begin(), ejected_->end(), std::back_inserter(*both));
    both_ = std::move(both);
    failing_ = std::move(failing);
  }
  return both_;
}

std::shared_ptr<const EjectedEndpoints> EndpointEjections::report(base::MonotonicTime now) const {
  if (!someEjected_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  renewIfStale(now);
  return report_;
}

void EndpointEjections::renewLater() const {
  until_ = {};
  someEjected_.store(true, std::memory_order_relaxed);
}

void EndpointEjections::renewIfStale(base::MonotonicTime now) const {
  if (now >= until_) renew(now);
}

void EndpointEjections::renew(base::MonotonicTime now) const {
  auto ejected = std::make_shared<Endpoints>();
  auto report = std::make_shared<EjectedEndpoints>();
  until_ = base::MonotonicTime::max();
  for (const auto& [endpoint, its] : endpoints_) {
    if (its.health.state(now) != AnswerHealth::State::kEjected) continue;
    ejected->push_back(endpoint);
    report->push_back({endpoint, its.health.since()});
    until_ = std::min(until_, its.health.until());
  }
  ejected_ = ejected->empty() ? nullptr : std::move(ejected);
  report_ = report->empty() ? nullptr : std::move(report);
  both_ = nullptr;
  someEjected_.store(ejected_ != nullptr, std::memory_order_relaxed);
}

EndpointEjections::Remembered& EndpointEjections::remember(const Endpoint& endpoint, base::MonotonicTime now) const {
  auto found = endpoints_.find(endpoint);
  if (found == endpoints_.end()) {
    if (endpoints_.size() >= kMostRemembered) endpoints_.erase(endpoints_.begin());
    found = endpoints_.try_emplace(endpoint).first;
  }
  found->second.heard = now;
  return found->second;
}

void EndpointEjections::forgetSome(base::MonotonicTime now, const PassiveHealthBounds& bounds,
                                   const CurrentEndpoints& current) const {
  if (now - forgotten_ < kForgetPeriod) return;
  forgotten_ = now;
  const base::Duration most = std::max(bounds.longestEjection, bounds.interval);
  const std::size_t gone = std::erase_if(endpoints_, [&](const auto& each) {
    const base::MonotonicTime last = std::max(each.second.heard, each.second.health.until());
    return !current.have(each.first) || now > last + most;
  });
  if (gone > 0) renewLater();
}

std::size_t EndpointEjections::ejectedOf(const CurrentEndpoints& current, base::MonotonicTime now) const {
  return static_cast<std::size_t>(std::count_if(endpoints_.begin(), endpoints_.end(), [&](const auto& each) {
    return each.second.health.state(now) == AnswerHealth::State::kEjected && current.have(each.first);
  }));
}

}  // namespace sluice::routing
