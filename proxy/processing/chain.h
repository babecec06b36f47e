// The steps that a route or a Backend puts its exchanges through, by phase and in their order (E-95).
//
// Immutable, made by compile(); any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/processing/body.h"
#include "proxy/processing/phase.h"
#include "proxy/processing/processor.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

/// Whose the step is; at equal priority the wider scope comes first.
enum class Scope : std::uint8_t { kGateway, kRoute, kBackend };

struct Step {
  std::shared_ptr<const Processor> processor;
  std::string name;  // of the use
  std::string type;  // "domain/Kind:version"
  Phase phase = Phase::kRequestHeaders;
  Scope scope = Scope::kBackend;
  std::int32_t priority = 0;
  bool failOpen = false;
  bool preAuth = false;
  bool preRouting = false;  // of a Gateway: before a route is matched
  /// How long it may wait; zero: timeouts.processor.
  base::Duration timeout{};
  /// Of its phase, if that has one.
  BodyInterest body{};
};

/// E-95 inside one phase, before scopes decide: those before authentication, then by priority.
inline bool comesBefore(const Step& a, const Step& b) {
  return a.preAuth != b.preAuth ? a.preAuth : a.priority < b.priority;
}

/// The same use of the same processor in the same phase, as the rules of one route may share it.
inline bool isSameStep(const Step& a, const Step& b) {
  return a.processor == b.processor && a.phase == b.phase && a.name == b.name;
}

/// A failed step is left out. A gateway that is full leaves none out: whoever fills it would switch it off for
/// everybody.
inline bool isSkipped(const Step& step, const Verdict& failure) {
  return step.failOpen && failure.cause() != Cause::kNoRoom;
}

/// Of a set of phases.
constexpr std::uint8_t bitOf(Phase phase) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(phase)); }

/// Before authentication or behind it (E-94).
enum class Round : std::uint8_t { kFirst, kSecond, kBoth };

class Chain {
 public:
  /// Steps of one scope, or of several that come together, in the order of their owners (E-95) and of their lists.
  explicit Chain(std::vector<Step> steps);

  /// Those before authentication first.
  std::span<const Step> of(Phase phase, Round round = Round::kBoth) const {
    const auto index = static_cast<std::size_t>(phase);
    const std::span<const Step> steps = steps_[index];
    if (round == Round::kBoth) return steps;
    return round == Round::kFirst ? steps.first(preAuth_[index]) : steps.subspan(preAuth_[index]);
  }
  bool contains(const Step& step) const;
  bool has(Phase phase) const { return (phases_ & bitOf(phase)) != 0; }
  /// Of all phases that have steps, a bit each: 1 << phase.
  std::uint8_t phases() const { return phases_; }
  /// Of those with a step that wants the body.
  std::uint8_t bodyPhases() const { return bodyPhases_; }
  /// Steps of request-headers or request-body come before authentication.
  bool hasPreAuthOfRequest() const {
    return !of(Phase::kRequestHeaders, Round::kFirst).empty() || !of(Phase::kRequestBody, Round::kFirst).empty();
  }
  /// Steps of request-body that come before authentication want the body.
  bool wantsBodyPreAuth() const;
  /// Of all phases.
  std::vector<Step> all() const;
  /// Where the processors' own requests go.
  const std::vector<std::shared_ptr<const CalloutTarget>>& targets() const { return targets_; }

 private:
  std::array<std::vector<Step>, kPhases> steps_;
  std::array<std::size_t, kPhases> preAuth_{};  // how many of them come before authentication
  std::vector<std::shared_ptr<const CalloutTarget>> targets_;
  std::uint8_t phases_ = 0;
  std::uint8_t bodyPhases_ = 0;
};

/// Chains of several scopes that an exchange goes through, the widest first; any may be null. See StepQueue.
using Chains = std::array<const Chain*, 3>;

/// Returns true if a step of `phases` (a bit each) wants the body.
inline bool wantsBody(const Chains& chains, std::uint8_t phases) {
  return std::any_of(chains.begin(), chains.end(),
                     [&](const Chain* chain) { return chain != nullptr && (chain->bodyPhases() & phases) != 0; });
}

}  // namespace sluice::processing
