#include "proxy/upstream/balance/balancer.h"

#include <string_view>

namespace sluice::upstream {
namespace {

std::uint64_t nextValue(std::uint64_t hash, std::uint64_t attempt) {
  if (attempt == 0) return hash;
  return base::stableHash({reinterpret_cast<const char*>(&hash), sizeof(hash)}, attempt);
}

}  // namespace

std::size_t Balancer::nextOf(std::size_t count, std::uint64_t random, std::uint64_t attempt) {
  if (terms_.type != base::BalancerType::kRoundRobin) return indexOf(nextValue(random, attempt), count);
  if (!turn_) turn_ = indexOf(random, count);
  return (*turn_)++ % count;
}

// A table is made for the endpoints of a Service alone. A name has only a few addresses.
std::size_t Balancer::memberOf(std::span<const std::string> names, bool isWhole, std::uint64_t value,
                               std::uint64_t attempt) {
  const std::uint64_t hash = nextValue(value, attempt);
  if (!isWhole) return rendezvousOf(names, hash);
  if (terms_.type == base::BalancerType::kRingHash) {
    if (!ring_) ring_.emplace(names);
    return ring_->memberOf(hash);
  }
  if (!maglev_) maglev_.emplace(names, terms_.tableSize);
  return maglev_->memberOf(hash);
}

}  // namespace sluice::upstream
