// State of processors that all workers share and that survives reloads, so that a rate limit does not refill when a
// route is edited. It is looked up by its owner and its type, and lives as long as any processor uses it.
//
// The process has one SharedStates, on the loading thread. The States in it are used by all threads: each is const, and
// counts in atomics.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>

namespace sluice::processing {

class SharedStates {
 public:
  /// Returns the State of `owner` ("Backend demo/api: limits"); make() makes it if no processor uses one.
  template <typename State, typename Make>
  std::shared_ptr<const State> get(const std::string& owner, Make&& make) {
    std::weak_ptr<const void>& known = states_[{owner, typeid(State)}];
    if (auto held = known.lock()) return std::static_pointer_cast<const State>(held);
    std::shared_ptr<const State> made = make();
    known = made;
    return made;
  }
  /// Forgets the States that no processor uses any more.
  void sweep() {
    std::erase_if(states_, [](const auto& each) { return each.second.expired(); });
  }

 private:
  std::map<std::pair<std::string, std::type_index>, std::weak_ptr<const void>> states_;
};

}  // namespace sluice::processing
