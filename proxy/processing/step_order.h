// The steps of one phase of all the chains that an exchange goes through, one after the other in their common order
// (E-95).
#pragma once

#include <array>
#include <span>
#include <tuple>

#include "proxy/processing/chain.h"

namespace sluice::processing {

class StepOrder {
 public:
  StepOrder() = default;
  StepOrder(const Chains& chains, Phase phase, Round round) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
      if (chains[i] != nullptr) left_[i] = chains[i]->of(phase, round);
    }
  }

  /// nullptr: that was the last.
  const Step* next() {
    std::span<const Step>* first = nullptr;
    for (auto& each : left_) {
      if (!each.empty() && (first == nullptr || comesBefore(each.front(), first->front()))) first = &each;
    }
    if (first == nullptr) return nullptr;
    const Step* step = &first->front();
    *first = first->subspan(1);
    return step;
  }

 private:
  std::array<std::span<const Step>, std::tuple_size_v<Chains>> left_;
};

}  // namespace sluice::processing
