// State of processors that each worker keeps for itself from one exchange to the next, such as a client's session or a
// script's interpreter. It needs no atomics, and goes with the processor that it belongs to.
//
// Each worker has one WorkerStates, on its thread.
#pragma once

#include <map>
#include <memory>
#include <utility>

namespace sluice::processing {

class WorkerStates {
 public:
  /// Returns the State that belongs to `owner`, an object that a processor keeps for this purpose. It is made of `args`
  /// when it is first asked for.
  template <typename State, typename... Args>
  State& get(const std::shared_ptr<const void>& owner, Args&&... args) {
    OwnedState& known = states_[{owner.get(), &kKindOf<State>}];
    // A new owner may have the address of one that has gone.
    if (known.held == nullptr || known.owner.expired()) {
      known = {owner, std::make_unique<Holding<State>>(std::forward<Args>(args)...)};
    }
    return static_cast<Holding<State>&>(*known.held).state;
  }
  /// Forgets the States whose owners have gone.
  void sweep() {
    std::erase_if(states_, [](const auto& each) { return each.second.owner.expired(); });
  }
  void clear() { states_.clear(); }

 private:
  /// Its address stands for the type: addresses are compared faster than names of types.
  template <typename State>
  static constexpr char kKindOf = 0;

  struct Held {
    virtual ~Held() = default;
  };
  template <typename State>
  struct Holding final : Held {
    template <typename... Args>
    explicit Holding(Args&&... args) : state(std::forward<Args>(args)...) {}
    State state;
  };
  struct OwnedState {
    std::weak_ptr<const void> owner;
    std::unique_ptr<Held> held;
  };

  std::map<std::pair<const void*, const void*>, OwnedState> states_;
};

}  // namespace sluice::processing
