#include "proxy/routing/policy/failover.h"

#include <algorithm>

namespace sluice::routing {
namespace {

constexpr std::uint64_t kWhole = 100;  // percent

}  // namespace

std::uint64_t FailoverPolicy::weightAt(std::uint32_t priority, std::uint64_t unavailable) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].priority == priority && (unavailable >> i & 1) == 0) sum += members[i].weight;
  }
  return sum;
}

std::optional<std::size_t> FailoverPolicy::chooseAt(std::uint32_t priority, std::uint64_t chance,
                                                    std::uint64_t unavailable) const {
  std::uint64_t ticket = scaled(chance, weightAt(priority, unavailable));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].priority != priority || (unavailable >> i & 1) != 0) continue;
    if (ticket < members[i].weight) return i;
    ticket -= members[i].weight;
  }
  return std::nullopt;
}

std::optional<std::size_t> FailoverPolicy::choose(const Chances& chances, std::uint64_t without,
                                                  base::MonotonicTime now) const {
  const std::optional<std::size_t> chosen = chooseServing(chances, without, now);
  return chosen ? chosen : chooseAmong(chances, without);
}

std::optional<std::size_t> FailoverPolicy::chooseServing(const Chances& chances, std::uint64_t without,
                                                         base::MonotonicTime now) const {
  std::uint64_t ejected = without;
  std::uint64_t due = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const AnswerHealth::State state = members[i].health->state(now);
    if (state == AnswerHealth::State::kEjected || !members[i].passes()) ejected |= std::uint64_t{1} << i;
    if (state == AnswerHealth::State::kDue) due |= std::uint64_t{1} << i;
  }
  const std::optional<std::size_t> chosen = chooseAmong(chances, ejected | due);
  return chosen ? chosen : chooseAmong(chances, ejected);
}

std::optional<std::size_t> FailoverPolicy::probe(std::optional<std::size_t> chosen, std::uint64_t without,
                                                 base::MonotonicTime now) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const FailoverMember& member = members[i];
    const bool isMeant = member.weight > 0 && member.passes() && (without >> i & 1) == 0 &&
                         (!chosen || member.priority <= members[*chosen].priority);
    if (isMeant && member.health->state(now) == AnswerHealth::State::kDue && member.health->tryProbe(now)) return i;
  }
  return std::nullopt;
}

std::optional<Ejection> FailoverPolicy::noteError(const FailoverMember& member, const PeerFailure& failure) const {
  const base::MonotonicTime now = failure.now;
  const auto cause = member.health->onError(now, member.passive, failure.isGatewayError);
  if (!cause) return std::nullopt;
  std::uint64_t all = 0;
  std::uint64_t ejected = 0;
  for (const FailoverMember& each : members) {
    if (each.weight == 0) continue;
    ++all;
    if (&each != &member && each.health->isEjected(now)) ++ejected;
  }
  if (ejected * kWhole >= member.passive.ejectedPercent * all) return std::nullopt;
  const std::optional<base::Duration> time = member.health->eject(now, member.passive, failure.at);
  return time ? std::optional(Ejection{*cause, *time}) : std::nullopt;
}

// Each priority takes as much of the remaining load as its available share allows, multiplied by the overprovisioning.
// If all of them together cannot take everything, each gets a part in proportion to its available share.
std::optional<std::size_t> FailoverPolicy::chooseAmong(const Chances& chances, std::uint64_t unavailable) const {
  std::uint32_t priorities = 0;
  for (const FailoverMember& each : members) priorities = std::max(priorities, each.priority + 1);
  const auto capacityAt = [&](std::uint32_t priority) -> std::uint64_t {
    const std::uint64_t all = weightAt(priority, 0);
    if (all == 0) return 0;
    const std::uint64_t available = weightAt(priority, unavailable);
    if (available == 0) return 0;
    return std::clamp<std::uint64_t>(available * overprovisioning / all, 1, kWhole);
  };
  std::uint64_t capacity = 0;
  for (std::uint32_t priority = 0; priority < priorities && capacity < kWhole; ++priority) {
    capacity += capacityAt(priority);
  }
  std::uint64_t ticket = scaled(chances.ofPriority, std::min(capacity, kWhole));
  for (std::uint32_t priority = 0; priority < priorities; ++priority) {
    const std::uint64_t takes = capacityAt(priority);
    if (ticket < takes) return chooseAt(priority, chances.ofMember, unavailable);
    ticket -= takes;
  }
  return std::nullopt;
}

}  // namespace sluice::routing
