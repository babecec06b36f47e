#include "proxy/kubernetes/client/turn_end.h"

#include <algorithm>
#include <utility>

namespace sluice::kubernetes {

void TurnEnds::call() {
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    TurnEnd* each = std::exchange(marked_[i], nullptr);
    if (each == nullptr) continue;
    each->marked_ = false;
    each->onTurnEnd();
  }
  marked_.clear();
}

TurnEnd::~TurnEnd() {
  if (marked_) std::replace(ends_.marked_.begin(), ends_.marked_.end(), this, static_cast<TurnEnd*>(nullptr));
}

void TurnEnd::mark() {
  if (!std::exchange(marked_, true)) ends_.marked_.push_back(this);
}

}  // namespace sluice::kubernetes
