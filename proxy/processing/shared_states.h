// State of processors that all workers share and that survives reloads (a rate limit does not refill because somebody
// edited a route): kept by who owns it and what it is, for as long as any processor uses it.
//
// One for a process, on the loading thread. What is in it is for all threads: a State is const, and counts in atomics.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>

namespace sluice::processing {

class SharedStates {
 public:
  /// The State of `owner` ("Backend demo/api: limits"): made by make() if nobody holds one.
  template <typename State, typename Make>
  std::shared_ptr<const State> get(const std::string& owner, Make&& make) {
    std::weak_ptr<const void>& known = states_[{owner, typeid(State)}];
    if (auto held = known.lock()) return std::static_pointer_cast<const State>(held);
    std::shared_ptr<const State> made = make();
    known = made;
    return made;
  }
  /// Forgets those that nobody holds any more.
  void sweep() {
    std::erase_if(states_, [](const auto& each) { return each.second.expired(); });
  }

 private:
  std::map<std::pair<std::string, std::type_index>, std::weak_ptr<const void>> states_;
};

}  // namespace sluice::processing
