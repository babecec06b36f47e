#include "proxy/base/state_table.h"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

enum class Lamp { kOff, kOn };
enum class Push { kShort, kLong };
enum class Click { kNone, kLoud };

using Lamps = StateTable<Lamp, 2, Push, 2, Click>;

constexpr Lamps makeLamps() {
  constexpr Transition<Lamp, Push, Click> kGiven[] = {{Lamp::kOff, Push::kShort, Click::kLoud, Lamp::kOn},
                                                      {Lamp::kOn, Push::kLong, Click::kNone, Lamp::kOff}};
  Lamps lamps;
  lamps.set(kGiven);
  return lamps;
}

TEST(StateTable, DoesWhatWasSetAndIgnoresTheRest) {
  constexpr Lamps kLamps = makeLamps();
  EXPECT_EQ(kLamps.at(Lamp::kOff, Push::kShort).action, Click::kLoud);
  EXPECT_EQ(kLamps.at(Lamp::kOff, Push::kShort).next, Lamp::kOn);
  EXPECT_FALSE(kLamps.ignores(Lamp::kOff, Push::kShort));
  EXPECT_FALSE(kLamps.ignores(Lamp::kOn, Push::kLong)) << "it leads elsewhere without an action";
  EXPECT_TRUE(kLamps.ignores(Lamp::kOff, Push::kLong));
  EXPECT_TRUE(kLamps.ignores(Lamp::kOn, Push::kShort));
  EXPECT_EQ(kLamps.at(Lamp::kOn, Push::kShort).next, Lamp::kOn);
}

TEST(StateTable, TakesTheLastOfTwoTransitionsOfACell) {
  Lamps lamps = makeLamps();
  lamps.set(Lamp::kOn, Push::kLong, Click::kLoud, Lamp::kOn);
  EXPECT_EQ(lamps.at(Lamp::kOn, Push::kLong).action, Click::kLoud);
  EXPECT_EQ(lamps.at(Lamp::kOn, Push::kLong).next, Lamp::kOn);
}

}  // namespace
}  // namespace sluice::base
