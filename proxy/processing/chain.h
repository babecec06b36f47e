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

struct Step {
  std::shared_ptr<const Processor> processor;
  std::string name;  // of this use of the processor
  std::string type;  // "domain/Kind:version"
  Phase phase = Phase::kRequestHeaders;
  Scope scope = Scope::kBackend;
  std::int32_t priority = 0;
  bool failOpen = false;
  bool preAuth = false;
  bool preRouting = false;  // a step of a Gateway that runs before a route is matched
  /// How long it may wait for one answer. Zero means timeouts.processor.
  base::Duration timeout{};
  /// Used only if its phase has a body.
  BodyInterest body{};
  bool ownsFields = false;  // the processor has ownedFields(); set by Chain
  /// The step decides whether the client may make the request, so it runs before all others that are behind
  /// authentication, those of request-headers included. Used only in request-headers and request-body.
  bool authorizes = false;
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
};

/// The first round of steps runs before authentication, the second after it, and between them those that authorize.
enum class Round : std::uint8_t { kFirst, kAuthorization, kSecond, kBoth };

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

/// Returns true if the exchange goes on without this failed step. A step is never skipped because the gateway is full:
/// a client that fills the gateway would switch the step off for all clients.
inline bool isSkipped(const Step& step, const Verdict& failure) {
  return step.failOpen && failure.cause() != Cause::kNoRoom;
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
  bool has(Phase phase) const { return (phases_ & bitOf(phase)) != 0; }
  /// Returns the set of phases that have steps, a bit each: 1 << phase.
  std::uint8_t phases() const { return phases_; }
  /// Returns the set of phases that have a step that wants the body.
  std::uint8_t bodyPhases() const { return bodyPhases_; }
  /// Returns true if a step of request-headers or request-body runs before authentication.
  bool hasPreAuthOfRequest() const {
    return !of(Phase::kRequestHeaders, Round::kFirst).empty() || !of(Phase::kRequestBody, Round::kFirst).empty();
  }
  /// Returns true if a step of request-headers or request-body runs after authentication.
  bool hasPostAuthOfRequest() const {
    const auto runsBehind = [this](Phase phase) { return of(phase).size() > of(phase, Round::kFirst).size(); };
    return runsBehind(Phase::kRequestHeaders) || runsBehind(Phase::kRequestBody);
  }
  /// Returns true if a step of request-body that runs before authentication wants the body.
  bool wantsBodyPreAuth() const;
  /// Returns the steps of all phases.
  std::vector<Step> all() const;
  /// Returns the targets of the processors' own requests.
  const std::vector<std::shared_ptr<const CalloutTarget>>& targets() const { return targets_; }

 private:
  std::array<std::vector<Step>, kPhases> steps_;
  std::array<std::size_t, kPhases> preAuth_{};      // how many steps of each phase run before authentication
  std::array<std::size_t, kPhases> authorizing_{};  // how many authorize, behind those
  std::vector<std::shared_ptr<const CalloutTarget>> targets_;
  std::uint8_t phases_ = 0;
  std::uint8_t bodyPhases_ = 0;
};

/// The chains of the scopes that an exchange goes through, the widest first; any may be null. See StepQueue.
using Chains = std::array<const Chain*, 3>;

/// Returns true if one of the chains has steps of that phase.
inline bool hasSteps(const Chains& chains, Phase phase) {
  return std::any_of(chains.begin(), chains.end(),
                     [phase](const Chain* chain) { return chain != nullptr && chain->has(phase); });
}

/// Returns true if a step of `phases` (a bit each) wants the body.
inline bool wantsBody(const Chains& chains, std::uint8_t phases) {
  return std::any_of(chains.begin(), chains.end(),
                     [&](const Chain* chain) { return chain != nullptr && (chain->bodyPhases() & phases) != 0; });
}

}  // namespace sluice::processing
