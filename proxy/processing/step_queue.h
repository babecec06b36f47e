// The steps that a pipeline has still to begin: phase after phase, and within a phase those of all its chains, merged
// into one order (before authentication first, then by priority, then the wider scope).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "proxy/processing/chain.h"

namespace sluice::processing {

/// The steps of one phase.
class PhaseSteps {
 public:
  PhaseSteps() = default;
  PhaseSteps(const Chains& chains, Phase phase, Round round) {
    for (const Chain* chain : chains) {
      if (chain == nullptr) continue;
      left_[count_] = chain->of(phase, round);
      count_ += left_[count_].empty() ? 0 : 1;
    }
  }

  bool empty() const { return count_ == 0; }
  /// Returns nullptr behind the last step.
  const Step* next() {
    if (count_ == 0) return nullptr;
    std::size_t first = 0;
    for (std::size_t i = 1; i < count_; ++i) {
      if (comesBefore(left_[i].front(), left_[first].front())) first = i;
    }
    const Step* step = &left_[first].front();
    left_[first] = left_[first].subspan(1);
    if (left_[first].empty()) {
      std::move(left_.begin() + first + 1, left_.begin() + count_, left_.begin() + first);
      --count_;
    }
    return step;
  }

 private:
  std::array<std::span<const Step>, std::tuple_size_v<Chains>> left_;  // the widest scope first; none is empty
  std::size_t count_ = 0;
};

class StepQueue {
 public:
  void append(const Chains& chains, Phase phase, Round round = Round::kBoth) {
    const PhaseSteps steps(chains, phase, round);
    if (steps.empty()) return;
    if (at_ == count_) at_ = count_ = 0;
    assert(count_ < phases_.size());
    phases_[count_++] = steps;
  }
  /// Appends the steps of one round of a request: those of request-headers, then those of request-body.
  void appendRequest(const Chains& chains, Round round) {
    append(chains, Phase::kRequestHeaders, round);
    append(chains, Phase::kRequestBody, round);
  }
  /// Returns nullptr if every step that was appended has been returned.
  const Step* next() {
    for (; at_ < count_; ++at_) {
      if (const Step* step = phases_[at_].next()) return step;
    }
    return nullptr;
  }
  void clear() { at_ = count_ = 0; }
  /// Returns true once next() has returned nullptr, or if nothing was appended.
  bool empty() const { return at_ == count_; }

 private:
  /// The two rounds of a request have two phases each, and no other pipeline has more to begin at one time.
  static constexpr std::size_t kMost = 4;

  std::array<PhaseSteps, kMost> phases_;
  std::uint8_t at_ = 0;
  std::uint8_t count_ = 0;
};

}  // namespace sluice::processing
