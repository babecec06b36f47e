// Balancer decides which endpoint of a cluster a request prefers, by the loadBalancing of a policy.
//
// Each worker has its own. Round robin goes through the endpoints in each worker for itself; consistent hashing finds
// the same endpoint in all workers and replicas. An endpoint that does not serve is replaced by another one, which is
// the same for all requests with the same value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/hashing/stable_hash.h"
#include "proxy/base/terms/load_balancing.h"
#include "proxy/upstream/balance/hash_table.h"

namespace sluice::upstream {

class Balancer {
 public:
  explicit Balancer(const base::LoadBalancing& terms) : terms_(terms) {}

  const base::LoadBalancing& terms() const { return terms_; }
  /// Called when the endpoints of the cluster are others.
  void renew() {
    ring_.reset();
    maglev_.reset();
  }
  /// Returns the index of an endpoint that serves; nullopt if there is none. `endpoints` has
  /// - count();
  /// - serves(i), load(i), which is the number of its requests, and age(i), the time since it came;
  /// - names(), a name for each of them, needed with a hash alone;
  /// - isWhole(): these are all endpoints of the cluster, in the order that they have until renew().
  /// Consistent hashing sends a request without a hash to an endpoint by chance. `random()` returns a random number.
  template <typename Endpoints, typename Random>
  std::optional<std::size_t> choose(const Endpoints& endpoints, std::optional<std::uint64_t> hash, Random&& random) {
    std::optional<std::size_t> chosen = chooseOnce(endpoints, hash, random);
    for (int draws = 1; draws < kMostDraws && chosen && spares(endpoints.age(*chosen), random); ++draws) {
      chosen = chooseOnce(endpoints, hash, random);
    }
    return chosen;
  }

 private:
  /// So often an endpoint is looked up, or drawn, before all are gone through in their order.
  static constexpr std::uint64_t kMostAttempts = 8;
  /// So often one is drawn before one is taken that is to get only a part of its share.
  static constexpr int kMostDraws = 8;
  static constexpr std::uint64_t kLeastPercent = 10;

  template <typename Endpoints, typename Random>
  std::optional<std::size_t> chooseOnce(const Endpoints& endpoints, std::optional<std::uint64_t> hash,
                                        Random&& random) {
    if (endpoints.count() == 0) return std::nullopt;
    if (terms_.type == base::BalancerType::kLeastRequest) return lessBusy(endpoints, random());
    const std::uint64_t drawn = random();
    std::size_t first = 0;
    for (std::uint64_t attempt = 0; attempt < kMostAttempts; ++attempt) {
      first = hash ? memberOf(endpoints.names(), endpoints.isWhole(), *hash, attempt)
                   : nextOf(endpoints.count(), drawn, attempt);
      if (endpoints.serves(first)) return first;
    }
    return firstFrom(endpoints, first);
  }
  /// Returns the less busy of two that are chosen at random.
  template <typename Endpoints>
  static std::optional<std::size_t> lessBusy(const Endpoints& endpoints, std::uint64_t random) {
    const std::size_t count = endpoints.count();
    const std::size_t one = indexOf(random, count);
    const std::size_t other = count == 1 ? one : (one + 1 + ((random & 0xFFFFFFFF) * (count - 1) >> 32)) % count;
    const bool oneServes = endpoints.serves(one);
    const bool otherServes = endpoints.serves(other);
    if (oneServes && otherServes) return endpoints.load(other) < endpoints.load(one) ? other : one;
    if (oneServes || otherServes) return oneServes ? one : other;
    return firstFrom(endpoints, one);
  }
  template <typename Endpoints>
  static std::optional<std::size_t> firstFrom(const Endpoints& endpoints, std::size_t first) {
    for (std::size_t i = 0; i < endpoints.count(); ++i) {
      const std::size_t next = (first + i) % endpoints.count();
      if (endpoints.serves(next)) return next;
    }
    return std::nullopt;
  }
  /// Returns true, by chance, if an endpoint of that age is to get only a part of its share.
  template <typename Random>
  bool spares(base::Duration age, Random&& random) const {
    if (age >= terms_.slowStart) return false;
    const auto percent = static_cast<std::uint64_t>(age / (terms_.slowStart / 100 + base::Duration(1)));
    return indexOf(random(), 100) >= std::max(percent, kLeastPercent);
  }
  /// Returns an index below `count`.
  static std::size_t indexOf(std::uint64_t random, std::size_t count) { return (random >> 32) * count >> 32; }
  std::size_t nextOf(std::size_t count, std::uint64_t random, std::uint64_t attempt);
  std::size_t memberOf(std::span<const std::string> names, bool isWhole, std::uint64_t value, std::uint64_t attempt);

  const base::LoadBalancing terms_;
  std::optional<std::size_t> turn_;  // of round robin; it begins by chance, so that workers do not keep step
  std::optional<HashRing> ring_;
  std::optional<MaglevTable> maglev_;
};

}  // namespace sluice::upstream
