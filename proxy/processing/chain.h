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

class Chain {
 public:
  /// Steps of one scope, or of several that come together, in the order of their owners (E-95) and of their lists.
  explicit Chain(std::vector<Step> steps);

  /// Those before authentication first.
  std::span<const Step> of(Phase phase) const { return steps_[static_cast<std::size_t>(phase)]; }
  bool has(Phase phase) const { return !of(phase).empty(); }

 private:
  std::array<std::vector<Step>, kPhases> steps_;
};

/// Calls visit(step) for the steps of a phase of both chains, either of which may be null, in their common order, until
/// it returns false. True if it never did.
template <typename Visit>
bool eachStep(const Chain* wider, const Chain* narrower, Phase phase, Visit&& visit) {
  std::span<const Step> a = wider != nullptr ? wider->of(phase) : std::span<const Step>();
  std::span<const Step> b = narrower != nullptr ? narrower->of(phase) : std::span<const Step>();
  while (!a.empty() || !b.empty()) {
    const bool first = b.empty() || (!a.empty() && a.front().priority <= b.front().priority);
    std::span<const Step>& from = first ? a : b;
    if (!visit(from.front())) return false;
    from = from.subspan(1);
  }
  return true;
}

/// Runs a step. One that fails leaves the heads as they were.
Verdict run(const Step& step, Call& call, const Peer& peer);

}  // namespace sluice::processing
