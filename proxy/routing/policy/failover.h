// The fail-over of a rule: which of its Backends get requests, by priority and by health (TrafficPolicy.spec.failover
// and .healthCheck).
//
// As Envoy does, requests go to the Backends of the lowest priority as long as enough of them serve; if fewer do, a
// share goes to the next priority, and so on. Immutable but for the health; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/routing/policy/answer_health.h"
#include "proxy/routing/policy/chance.h"
#include "proxy/routing/policy/health_check.h"

namespace sluice::routing {

/// One weighted backend of the rule.
struct FailoverMember {
  std::uint32_t priority = 0;                  // 0 comes first; of n priorities the last is n - 1
  std::uint32_t weight = 1;                    // among those of its priority
  std::shared_ptr<const AnswerHealth> health;  // never null
  std::shared_ptr<const HealthCheck> check;    // null: nobody asks it
  PassiveHealthBounds passive;

  /// Returns false if a check has found that it does not serve.
  bool passes() const { return check == nullptr || !check->fails(); }
};

struct FailoverPolicy {
  std::vector<FailoverMember> members;  // as Rule::backends, at most 64
  /// The sum of the weights of the first priority; 0 if one of its members is broken.
  std::uint64_t usualWeight = 0;
  /// In percent: with 140, five Backends of which one is out still get all requests of their priority.
  std::uint32_t overprovisioning = 140;
  base::Duration longestRest = std::chrono::minutes(1);  // that a Backend may ask for by Retry-After

  /// Two numbers that are uniform over 64 bits.
  struct Chances {
    std::uint64_t ofPriority;
    std::uint64_t ofMember;
  };
  /// Chooses the member for a request at the usual time, when all members of the first priority serve. Returns nullopt
  /// at other times.
  std::optional<std::size_t> chooseUsual(std::uint64_t random) const {
    if (usualWeight == 0) return std::nullopt;
    std::uint64_t ticket = scaled(random, usualWeight);
    std::optional<std::size_t> chosen;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const FailoverMember& member = members[i];
      if (member.priority != 0) continue;
      if (!member.health->serves() || !member.passes()) return std::nullopt;
      if (!chosen && ticket < member.weight) chosen = i;
      ticket -= member.weight;
    }
    return chosen;
  }
  /// Chooses the member for a request, none of `without` (a bit each, by position). Those that rest are chosen if there
  /// is no other. Returns nullopt if no member is left that has a weight.
  std::optional<std::size_t> choose(const Chances& chances, std::uint64_t without, base::MonotonicTime now) const;
  /// Chooses likewise, but none that rests.
  std::optional<std::size_t> chooseServing(const Chances& chances, std::uint64_t without,
                                           base::MonotonicTime now) const;
  /// Returns the member about which the request shall find out whether it serves, because its rest has passed; nullopt
  /// if there is none, or `chosen` comes before it. The member awaits the outcome, or giveProbeBack().
  std::optional<std::size_t> probe(std::optional<std::size_t> chosen, std::uint64_t without,
                                   base::MonotonicTime now) const;

  /// Called when a member has failed; `isGatewayError` as AnswerHealth::onError() has it. If that was too much, and not
  /// too many others rest because they failed, it rests. Threads that count at once may let one more rest.
  void noteError(const FailoverMember& member, base::MonotonicTime now, bool isGatewayError) const;

 private:
  std::optional<std::size_t> chooseAmong(const Chances& chances, std::uint64_t unavailable) const;
  std::uint64_t weightAt(std::uint32_t priority, std::uint64_t unavailable) const;
  std::optional<std::size_t> chooseAt(std::uint32_t priority, std::uint64_t chance, std::uint64_t unavailable) const;
};

}  // namespace sluice::routing
