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
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/routing/policy/answer_health.h"
#include "proxy/routing/policy/chance.h"
#include "proxy/routing/policy/ejection.h"
#include "proxy/routing/policy/health_check.h"

namespace sluice::routing {

/// One weighted backend of the rule.
struct FailoverMember {
  std::uint32_t priority = 0;                  // 0 comes first; of n priorities the last is n - 1
  std::uint32_t weight = 1;                    // among those of its priority
  std::shared_ptr<const AnswerHealth> health;  // never null
  std::shared_ptr<const HealthCheck> check;    // null: there is no active check
  PassiveHealthBounds passive;

  /// Returns false if an active check has found that it does not serve.
  bool passes() const { return check == nullptr || !check->fails(); }
};

struct FailoverPolicy {
  std::vector<FailoverMember> members;  // as Rule::backends, at most 64
  /// The sum of the weights of the first priority; 0 if one of its members is broken.
  std::uint64_t usualWeight = 0;
  /// In percent. With 140, five Backends still get all requests of their priority if one of them is ejected.
  std::uint32_t overprovisioning = 140;
  base::Duration longestRest = std::chrono::minutes(1);  // the longest ejection by a Backend's own Retry-After
  std::string rule = {};                                 // as events name it: "HTTPRoute demo/web, rule 0"

  /// Two numbers that are uniform over 64 bits.
  struct Chances {
    std::uint64_t ofPriority;
    std::uint64_t ofMember;
  };
  /// Chooses the member for a request if all members of the first priority serve, which is the usual case. Else returns
  /// nullopt.
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
  /// Chooses the member for a request, but none of `without` (a bit each, by position). Ejected members are chosen only
  /// if there is no other. Returns nullopt if no member with a weight is left.
  std::optional<std::size_t> choose(const Chances& chances, std::uint64_t without, base::MonotonicTime now) const;
  /// Chooses likewise, but no ejected member.
  std::optional<std::size_t> chooseServing(const Chances& chances, std::uint64_t without,
                                           base::MonotonicTime now) const;
  /// Returns the member that the request must probe, because its ejection has ended; nullopt if there is none, or if
  /// `chosen` comes before it. The member waits for the outcome, or for giveProbeBack().
  std::optional<std::size_t> probe(std::optional<std::size_t> chosen, std::uint64_t without,
                                   base::MonotonicTime now) const;

  /// Returns the members of that priority, a bit each by position.
  std::uint64_t membersOf(std::uint32_t priority) const {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].priority == priority) found |= std::uint64_t{1} << i;
    }
    return found;
  }

  /// Called when a member has failed. Ejects the member if it has reached a bound, unless too many others are ejected
  /// because they failed. Threads that do this at the same time may eject one more. Returns the ejection; nullopt if
  /// the member is not ejected by this.
  std::optional<Ejection> noteError(const FailoverMember& member, const PeerFailure& failure) const;

 private:
  std::optional<std::size_t> chooseAmong(const Chances& chances, std::uint64_t unavailable) const;
  std::uint64_t weightAt(std::uint32_t priority, std::uint64_t unavailable) const;
  std::optional<std::size_t> chooseAt(std::uint32_t priority, std::uint64_t chance, std::uint64_t unavailable) const;
};

}  // namespace sluice::routing
