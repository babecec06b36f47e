// The steps that a route or a Backend puts its exchanges through, by phase and, within a phase, in the order in which
// they run.
//
// compile() makes it; it is immutable, and any thread may use it.
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
#include "proxy/base/object_names.h"
#include "proxy/processing/body.h"
#include "proxy/processing/phase.h"
#include "proxy/processing/processor.h"
#include "proxy/processing/server_health.h"
#include "proxy/processing/use_health.h"
#include "proxy/processing/verdict.h"

namespace sluice::processing {

/// The kind of object that lists the step. At equal priority the wider scope comes first.
enum class Scope : std::uint8_t { kGateway, kRoute, kBackend };

struct Step;

/// Replaces failOpen if a step fails: another step runs, or the client gets this answer. A step
/// that fails because the gateway is full has no fallback.
struct StepFallback {
  /// The other step, which has the same phase and scope; null if the client gets the answer.
  std::shared_ptr<const Step> step;
  std::uint16_t status = 0;
  std::string detail;  // a sentence for the client
};

struct Step {
  std::shared_ptr<const Processor> processor;
  std::string name;  // of this use of the processor
  std::string type;  // "domain/Kind:version"
  Phase phase = Phase::kRequestHeaders;
  Scope scope = Scope::kBackend;
  std::int32_t priority = 0;
  /// If the step fails, it is skipped. Set if another step is its fallback.
  bool failOpen = false;
  bool preAuth = false;
  bool preRouting = false;  // a step of a Gateway that runs before a route is matched
  /// How long it may wait for one answer. Zero means timeouts.processor.
  base::Duration timeout{};
  /// Used only if its phase has a body.
  BodyInterest body{};
  bool ownsFields = false;  // the processor has ownedFields(); set by Chain, but not for stand-ins
  /// The step decides whether the client may make the request, so it runs before all others that are behind
  /// authentication, those of request-headers included. Used only in request-headers and request-body.
  bool authorizes = false;
  /// Its use is marked preAuth, so the processor is shown no client, not even in phases behind authentication.
  bool hidesClient = false;
  /// The number of the type in that phase, which stays the same while the process lives; 0: it has none.
  std::uint32_t number = 0;
  /// Null for a step that asks no server.
  std::shared_ptr<const ServerHealth> server = nullptr;
  /// The Secrets that the processor may be made of.
  base::ObjectNames secrets = {};
  /// The object in which the use is written, as events name it ("PayloadProcessor demo/guard").
  std::string object = {};
  /// Null for a step that stands for a use that cannot run.
  std::shared_ptr<const UseHealth> health = nullptr;
  std::shared_ptr<const StepFallback> fallback = nullptr;

  /// Returns the step that runs if this one fails; nullptr if there is none.
  const Step* standIn() const { return fallback != nullptr ? fallback->step.get() : nullptr; }
};

/// Returns true if the step may know who the client is.
inline bool seesClient(const Step& step) { return !step.preAuth && !step.hidesClient; }

/// The first round of steps runs before authentication, the second after it, and between them those that authorize.
enum class Round : std::uint8_t { kFirst, kAuthorization, kSecond, kBoth };
inline constexpr std::size_t kRounds = 4;

/// Returns the round of a step, which is never kBoth.
constexpr Round roundOf(const Step& step) {
  if (step.preAuth) return Round::kFirst;
  return step.authorizes && step.phase <= Phase::kRequestBody ? Round::kAuthorization : Round::kSecond;
}

/// Returns true if `a` runs before `b` in the same phase: steps before authentication run first, then those that
/// authorize, and among equals those with the lower priority. If neither runs before the other, the scopes decide.
inline bool comesBefore(const Step& a, const Step& b) {
  return roundOf(a) != roundOf(b) ? roundOf(a) < roundOf(b) : a.priority < b.priority;
}

/// Returns true if both are the same use of the same processor in the same phase. Several rules of a route may share
/// one.
inline bool isSameStep(const Step& a, const Step& b) {
  return a.processor == b.processor && a.phase == b.phase && a.name == b.name;
}

/// Returns true if the exchange goes on without this failed step. A step is never skipped because the gateway is full,
/// or because the request causes too much work: a client that fills the gateway would switch the step off for all
/// clients, and one that sends texts which take long for itself.
inline bool isSkipped(const Step& step, const Verdict& failure) {
  return step.failOpen && failure.cause() != Cause::kNoRoom && failure.cause() != Cause::kOverWork;
}

class Chain {
 public:
  /// `steps` are those of one scope, or of several that come together. At equal priority and scope they keep the order
  /// that they have here: the oldest owner first, then by namespace and name, then by position in the owner's list.
  explicit Chain(std::vector<Step> steps);

  /// Returns the steps of a phase in their order.
  std::span<const Step> of(Phase phase, Round round = Round::kBoth) const {
    const auto index = static_cast<std::size_t>(phase);
    const std::span<const Step> steps = steps_[index];
    if (round == Round::kBoth) return steps;
    if (round == Round::kFirst) return steps.first(preAuth_[index]);
    const std::size_t rest = preAuth_[index] + authorizing_[index];
    return round == Round::kSecond ? steps.subspan(rest) : steps.first(rest).subspan(preAuth_[index]);
  }
  bool contains(const Step& step) const;
  bool has(Phase phase, Round round = Round::kBoth) const { return (phases(round) & bitOf(phase)) != 0; }
  /// Returns the set of phases that have steps, a bit each: 1 << phase.
  std::uint8_t phases(Round round = Round::kBoth) const { return phases_[static_cast<std::size_t>(round)]; }
  /// Returns the set of phases that have a step that wants the body.
  std::uint8_t bodyPhases() const { return bodyPhases_; }
  /// Returns true if a step of request-headers or request-body runs before authentication.
  bool hasPreAuthOfRequest() const { return (phases(Round::kFirst) & kOfRequest) != 0; }
  /// Returns true if a step of request-headers or request-body runs after authentication.
  bool hasPostAuthOfRequest() const {
    return ((phases(Round::kAuthorization) | phases(Round::kSecond)) & kOfRequest) != 0;
  }
  /// Returns true if a step of request-body that runs before authentication wants the body.
  bool wantsBodyPreAuth() const;
  /// Returns the steps of all phases.
  std::vector<Step> all() const;
  /// Returns the targets of the processors' own requests.
  const std::vector<std::shared_ptr<const CalloutTarget>>& targets() const { return targets_; }

 private:
  static constexpr std::uint8_t kOfRequest = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody);

  std::array<std::vector<Step>, kPhases> steps_;
  std::array<std::size_t, kPhases> preAuth_{};      // how many steps of each phase run before authentication
  std::array<std::size_t, kPhases> authorizing_{};  // how many authorize, behind those
  std::vector<std::shared_ptr<const CalloutTarget>> targets_;
  std::array<std::uint8_t, kRounds> phases_{};  // those that have steps in each Round
  std::uint8_t bodyPhases_ = 0;
};

/// The chains of the scopes that an exchange goes through, the widest first; any may be null. See StepQueue.
using Chains = std::array<const Chain*, 3>;

/// Returns the set of phases in which one of the chains has steps of that round.
inline std::uint8_t phasesOfAll(const Chains& chains, Round round) {
  std::uint8_t phases = 0;
  for (const Chain* chain : chains) {
    if (chain != nullptr) phases |= chain->phases(round);
  }
  return phases;
}
/// Returns true if one of the chains has steps of that phase and round.
inline bool hasSteps(const Chains& chains, Phase phase, Round round = Round::kBoth) {
  return (phasesOfAll(chains, round) & bitOf(phase)) != 0;
}
/// Returns true if one of the chains has steps of request-headers or request-body in that round.
inline bool hasStepsOfRequest(const Chains& chains, Round round) {
  return (phasesOfAll(chains, round) & (bitOf(Phase::kRequestHeaders) | bitOf(Phase::kRequestBody))) != 0;
}

/// Returns true if a step of `phases` (a bit each) wants the body.
inline bool wantsBody(const Chains& chains, std::uint8_t phases) {
  return std::any_of(chains.begin(), chains.end(),
                     [&](const Chain* chain) { return chain != nullptr && (chain->bodyPhases() & phases) != 0; });
}

}  // namespace sluice::processing
