// The steps that a pipeline has still to begin: phase after phase, and within a phase those of all its chains, merged
// into one order (before authentication first, then authorization, then by priority, then the wider scope).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "proxy/processing/chain.h"

namespace sluice::processing {

/// The steps of one phase. It is not initialised before begin(), because few of the phases that a queue has room for
/// are used.
class PhaseSteps {
 public:
  void begin(const Chains& chains, Phase phase, Round round) {
    count_ = 0;
    for (const Chain* chain : chains) {
      if (chain == nullptr || !chain->has(phase, round)) continue;
      const std::span<const Step> steps = chain->of(phase, round);
      left_[count_++] = {steps.data(), steps.data() + steps.size()};
    }
  }

  void begin(std::span<const Step> steps) {
    left_[0] = {steps.data(), steps.data() + steps.size()};
    count_ = 1;
  }

  /// Returns the next steps of one chain before which no step of another one comes; none behind the last step.
  std::span<const Step> next() {
    if (count_ <= 1) return std::exchange(count_, 0) == 0 ? std::span<const Step>() : left_[0].all();
    std::size_t first = 0;
    for (std::size_t i = 1; i < count_; ++i) {
      if (comesBefore(*left_[i].begin, *left_[first].begin)) first = i;
    }
    const std::span<const Step> step = left_[first].all().first(1);
    if (++left_[first].begin == left_[first].end) {
      std::move(left_.begin() + first + 1, left_.begin() + count_, left_.begin() + first);
      --count_;
    }
    return step;
  }

 private:
  /// Unlike a std::span, it needs no initialisation.
  struct StepRange {
    const Step* begin;
    const Step* end;
    std::span<const Step> all() const { return {begin, end}; }
  };

  std::array<StepRange, std::tuple_size_v<Chains>> left_;  // the widest scope first; none is empty
  std::size_t count_;
};

class StepQueue {
 public:
  void append(const Chains& chains, Phase phase, Round round = Round::kBoth) {
    if (!hasSteps(chains, phase, round)) return;
    if (at_ == count_) at_ = count_ = 0;
    assert(count_ < phases_.size());
    phases_[count_++].begin(chains, phase, round);
  }
  /// Appends the steps of one round of a request: those of request-headers, then those of request-body. Those that
  /// authorize come before the second round.
  void appendRequest(const Chains& chains, Round round) {
    if (round == Round::kBoth) appendRequest(chains, Round::kFirst);
    if (round >= Round::kSecond) appendRequest(chains, Round::kAuthorization);
    if (round == Round::kBoth) round = Round::kSecond;
    if (round != Round::kSecond && !hasStepsOfRequest(chains, round)) return;  // most chains have none
    append(chains, Phase::kRequestHeaders, round);
    append(chains, Phase::kRequestBody, round);
  }
  /// Appends the steps of the first round of that chain from `first` on, which is a step of request-body.
  void appendFrom(const Chain& chain, const Step& first) {
    const std::span<const Step> steps = chain.of(Phase::kRequestBody, Round::kFirst);
    if (at_ == count_) at_ = count_ = 0;
    assert(count_ < phases_.size());
    phases_[count_++].begin(steps.subspan(static_cast<std::size_t>(&first - steps.data())));
  }
  /// Makes `step` the next one; takeInserted() returns it once.
  void insert(const Step& step) { inserted_ = &step; }
  const Step* takeInserted() { return std::exchange(inserted_, nullptr); }
  /// Returns nullptr if every step that was appended has been returned.
  const Step* next() { return next_ != end_ ? next_++ : nextOfOthers(); }
  /// Forgets what was appended. A step of a Gateway that was inserted stays, because every route has it.
  void clear() {
    at_ = count_ = 0;
    next_ = end_ = nullptr;
    if (inserted_ != nullptr && inserted_->scope != Scope::kGateway) inserted_ = nullptr;
  }
  /// Returns true once both functions have returned nullptr, or if there was nothing.
  bool empty() const { return at_ == count_ && inserted_ == nullptr; }

 private:
  /// The two rounds of a request and the authorization between them have two phases each, and no other pipeline has
  /// more to begin at one time.
  static constexpr std::size_t kMost = 6;

  const Step* nextOfOthers() {
    for (; at_ < count_; ++at_) {
      const std::span<const Step> steps = phases_[at_].next();
      if (steps.empty()) continue;
      next_ = steps.data() + 1;
      end_ = steps.data() + steps.size();
      return steps.data();
    }
    return nullptr;
  }

  const Step* next_ = nullptr;  // those of phases_[at_] that come without a break
  const Step* end_ = nullptr;
  const Step* inserted_ = nullptr;
  std::array<PhaseSteps, kMost> phases_;
  std::uint8_t at_ = 0;
  std::uint8_t count_ = 0;
};

}  // namespace sluice::processing
