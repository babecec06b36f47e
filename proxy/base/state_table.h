// A state machine as data: an action and the next state for each state and event.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace sluice::base {

template <typename State, typename Action>
struct Cell {
  Action action;
  State next;
};

template <typename State, typename Event, typename Action>
struct Transition {
  State state;
  Event event;
  Action action;
  State next;
};

/// The enumerators of State and Event count from zero, and Action{} is the action that does nothing. A cell that was
/// not set has that action and the same state: it ignores the event.
template <typename State, std::size_t kStates, typename Event, std::size_t kEvents, typename Action>
class StateTable {
 public:
  constexpr StateTable() {
    for (std::size_t state = 0; state < kStates; ++state) {
      for (auto& cell : cells_[state]) cell = {Action{}, static_cast<State>(state)};
    }
  }
  constexpr void set(State state, Event event, Action action, State next) {
    cells_[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)] = {action, next};
  }
  constexpr void set(std::span<const Transition<State, Event, Action>> transitions) {
    for (const auto& each : transitions) set(each.state, each.event, each.action, each.next);
  }
  constexpr const Cell<State, Action>& at(State state, Event event) const {
    return cells_[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
  }
  /// Returns true if the event changes nothing in that state.
  constexpr bool ignores(State state, Event event) const {
    return at(state, event).action == Action{} && at(state, event).next == state;
  }

 private:
  std::array<std::array<Cell<State, Action>, kEvents>, kStates> cells_{};
};

}  // namespace sluice::base
