// The memory of a state, which the calls that wait in it share.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "test/filters/lua/lua_rig.h"

namespace sluice::test {
namespace {

using processing::Phase;

constexpr const char* kAttacker = "192.0.2.66";
constexpr const char* kVictim = "192.0.2.1";

/// Keeps as many texts of 50,000 bytes as the path says, and waits for a piece of the body.
constexpr const char* kHoarder = R"lua(
  function request_body(m)
    local kept = {}
    for i = 1, tonumber(m.path:sub(2)) do kept[i] = ("x"):rep(25000, "y") end
    m.body:replace(m.body:chunk() .. #kept)
  end)lua";

class LuaMemory : public ::testing::Test {
 protected:
  LuaMemory() {
    rig_.bounds.memory = std::uint64_t{1} << 20U;
    EXPECT_EQ(rig_.load(kHoarder), "");
  }
  /// Begins a call of that client, which waits with that many texts.
  std::string begin(const char* client, int texts) {
    rig_.peer.address = client;
    rig_.request({}, "/" + std::to_string(texts));
    return rig_.run(Phase::kRequestBody, "", false);
  }
  /// Lets the call go on whose turn it is.
  std::string goOn() { return rig_.run(Phase::kRequestBody, "a", true); }

  LuaRig rig_;
};

constexpr const char* kGaveWay = "over_limit: a call that waited held memory that others need";

TEST_F(LuaMemory, IsHalfThereForACallThatRunsWhateverOthersHold) {
  EXPECT_EQ(begin(kAttacker, 9), "continue");
  rig_.turnTo(1);
  EXPECT_EQ(begin(kVictim, 5), "continue");
  EXPECT_EQ(goOn(), "continue");
  EXPECT_EQ(rig_.passed, "a5");
  rig_.turnTo(0);
  EXPECT_EQ(goOn(), kGaveWay) << "the client that held most, and not the one that came last";
}

TEST_F(LuaMemory, IsNotTakenFromAClientThatHoldsLess) {
  EXPECT_EQ(begin(kVictim, 1), "continue");
  rig_.turnTo(1);
  EXPECT_EQ(begin(kAttacker, 10), "over_limit: the scripts of this type have no memory left");
  rig_.turnTo(0);
  EXPECT_EQ(goOn(), "continue");
  EXPECT_EQ(rig_.passed, "a1");
}

TEST_F(LuaMemory, EndsTheCallThatBeginsToWaitIfItsOwnClientHoldsMost) {
  EXPECT_EQ(begin(kAttacker, 6), "continue");
  rig_.turnTo(1);
  EXPECT_EQ(begin(kAttacker, 7), "over_limit: the scripts of this type have no memory left");
  rig_.turnTo(0);
  EXPECT_EQ(goOn(), "continue") << "the other one holds less";
}

TEST_F(LuaMemory, ACallThatAloneHoldsMoreThanHalfIsItsOwnFault) {
  const std::string outcome = begin(kVictim, 12);
  EXPECT_TRUE(outcome.starts_with("budget: processor.lua:5: waits with 60")) << outcome;
  EXPECT_NE(outcome.find(" bytes of memory, and all calls that wait may have 50"), std::string::npos) << outcome;
}

TEST_F(LuaMemory, ThatTheScriptItselfHoldsIsNoPartOfTheHalf) {
  ASSERT_EQ(rig_.load("own = {} for i = 1, 12 do own[i] = ('x'):rep(25000, 'y') end\n" + std::string(kHoarder)), "");
  EXPECT_EQ(begin(kAttacker, 3), "continue");
  rig_.turnTo(1);
  EXPECT_EQ(begin(kVictim, 2), "continue") << "the other client has held more than the half that the script leaves";
  EXPECT_EQ(goOn(), "continue");
  EXPECT_EQ(rig_.passed, "a2");
  rig_.turnTo(0);
  EXPECT_EQ(goOn(), kGaveWay);
}

TEST_F(LuaMemory, OfACallThatHasGoneIsFreeAgain) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(begin(kVictim, 9), "continue") << i;
    rig_.end();
  }
}

TEST_F(LuaMemory, OfOneClientIsSharedByItsCalls) {
  EXPECT_EQ(begin(kVictim, 3), "continue");
  int ended = 0;
  for (int i = 1; i <= 12; ++i) {
    rig_.turnTo(i);
    if (begin(kAttacker, 1) != "continue") ++ended;
  }
  for (int i = 1; i <= 12; ++i) {
    rig_.turnTo(i);
    if (goOn() == kGaveWay) ++ended;
  }
  EXPECT_GE(ended, 3) << "they hold more than the larger call of the other client";
  rig_.turnTo(0);
  EXPECT_EQ(goOn(), "continue");
  EXPECT_EQ(rig_.passed, "a3");
}

}  // namespace
}  // namespace sluice::test
