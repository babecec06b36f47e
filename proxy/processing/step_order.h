// The steps of one phase of all the chains that an exchange goes through, one after the other in their common order
// (E-95).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <tuple>

#include "proxy/processing/chain.h"

namespace sluice::processing {

class StepOrder {
 public:
  StepOrder() = default;
  StepOrder(const Chains& chains, Phase phase, Round round = Round::kBoth) {
    for (const Chain* chain : chains) {
      if (chain == nullptr) continue;
      left_[count_] = chain->of(phase, round);
      count_ += left_[count_].empty() ? 0 : 1;
    }
  }

  bool empty() const { return count_ == 0; }
  /// nullptr: that was the last.
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

}  // namespace sluice::processing
