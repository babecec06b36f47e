// Expects a state machine that is data to be as a test has written it out a second time.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <utility>

#include "proxy/base/state_table.h"

namespace sluice::test {

template <typename State, typename Event, typename Action>
using ExpectedCells = std::map<std::pair<State, Event>, base::Cell<State, Action>>;

/// Goes through every cell. One that is not among `expected` has to ignore its event.
template <typename State, std::size_t kStates, typename Event, std::size_t kEvents, typename Action>
void expectCells(const base::StateTable<State, kStates, Event, kEvents, Action>& table,
                 const ExpectedCells<State, Event, Action>& expected) {
  for (std::size_t s = 0; s < kStates; ++s) {
    for (std::size_t e = 0; e < kEvents; ++e) {
      const auto state = static_cast<State>(s);
      const auto event = static_cast<Event>(e);
      const auto found = expected.find({state, event});
      const base::Cell<State, Action> wanted =
          found != expected.end() ? found->second : base::Cell<State, Action>{Action{}, state};
      EXPECT_EQ(table.at(state, event).action, wanted.action) << "state " << s << ", event " << e;
      EXPECT_EQ(table.at(state, event).next, wanted.next) << "state " << s << ", event " << e;
    }
  }
}

}  // namespace sluice::test
