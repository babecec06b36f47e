// The steps that a route or a Backend puts its exchanges through, by phase and in their order (E-95), and how one of
// them runs: what it could not do, and whether the exchange goes on without it.
//
// Immutable, made by compile(); any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/processing/phase.h"
#include "proxy/processing/processor.h"

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
};

/// E-95 inside one phase, before scopes decide: those before authentication, then by priority.
inline bool comesBefore(const Step& a, const Step& b) {
  return a.preAuth != b.preAuth ? a.preAuth : a.priority < b.priority;
}

class Chain {
 public:
  /// Steps of one scope, or of several that come together, in the order of their owners (E-95) and of their lists.
  explicit Chain(std::vector<Step> steps);

  /// Those before authentication first.
  std::span<const Step> of(Phase phase) const { return steps_[static_cast<std::size_t>(phase)]; }
  bool has(Phase phase) const { return !of(phase).empty(); }
  /// Of all phases.
  std::vector<Step> all() const;

 private:
  std::array<std::vector<Step>, kPhases> steps_;
};

/// Chains of several scopes that an exchange goes through, the widest first; any may be null.
using Chains = std::array<const Chain*, 3>;

/// Calls visit(step) for the steps of a phase of all of them, in their common order, until it returns false. True if it
/// never did.
template <typename Visit>
bool eachStep(const Chains& chains, Phase phase, Visit&& visit) {
  std::array<std::span<const Step>, std::tuple_size_v<Chains>> left;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (chains[i] != nullptr) left[i] = chains[i]->of(phase);
  }
  while (true) {
    std::span<const Step>* next = nullptr;
    for (auto& each : left) {
      if (!each.empty() && (next == nullptr || comesBefore(each.front(), next->front()))) next = &each;
    }
    if (next == nullptr) return true;
    if (!visit(next->front())) return false;
    *next = next->subspan(1);
  }
}

/// Runs a step. One that fails leaves the heads as they were.
Verdict run(const Step& step, Call& call, const Peer& peer);

}  // namespace sluice::processing
