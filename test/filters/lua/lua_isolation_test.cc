// Calls of one script that wait at the same time, and what they share.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <sstream>
#include <string>

#include "test/filters/lua/lua_rig.h"

namespace sluice::test {
namespace {

using processing::Phase;

/// A function that keeps as many texts of 50,000 bytes as the path says, waits for a piece, and adds their number to
/// it.
constexpr const char* kKeeper = R"lua(
  function request_body(m)
    local kept = {}
    for i = 1, tonumber(m.path:sub(2)) do kept[i] = ("x"):rep(25000, "y") end
    local piece = m.body:chunk()
    if piece == "fail" then error("no") end
    m.body:replace(piece .. #kept)
  end)lua";

TEST(LuaIsolation, CallsThatWaitDoNotDisturbEachOther) {
  LuaRig rig;
  ASSERT_EQ(rig.load(kKeeper), "");
  rig.request({}, "/1");
  EXPECT_EQ(rig.run(Phase::kRequestBody, "", false), "continue");
  rig.turnTo(1);
  rig.request({}, "/2");
  EXPECT_EQ(rig.run(Phase::kRequestBody, "", false), "continue");
  EXPECT_EQ(rig.run(Phase::kRequestBody, "fail", true), "script_error: processor.lua:6: no");
  rig.turnTo(0);
  EXPECT_EQ(rig.run(Phase::kRequestBody, "a", true), "continue");
  EXPECT_EQ(rig.passed, "a1");
  rig.request({}, "/3");
  EXPECT_EQ(rig.once(Phase::kRequestBody, "b"), "continue") << "in a state that was made anew";
  EXPECT_EQ(rig.passed, "b3");
}

TEST(LuaIsolation, ACallThatTakesTooMuchFailsAsItDoesAlone) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_body(m) while m.path == '/spin' do end m.body:chunk() m.body:chunk() end"), "");
  rig.request({});
  EXPECT_EQ(rig.run(Phase::kRequestBody, "", false), "continue");
  rig.turnTo(1);
  rig.request({}, "/spin");
  EXPECT_TRUE(rig.run(Phase::kRequestBody, "", false).starts_with("budget: "))
      << "the other call, which waits, has no part in it";
}

TEST(LuaIsolation, GarbageOfOtherCallsTakesNoRoom) {
  LuaRig rig;
  rig.bounds.memory = std::uint64_t{1} << 20U;
  ASSERT_EQ(rig.load("function request_headers(m) local t = {} for i = 1, 8 do t[i] = ('x'):rep(90000 + i) end end"),
            "");
  for (int i = 0; i < 20; ++i) {
    rig.request({});
    EXPECT_EQ(rig.once(), "continue") << i;
  }
}

TEST(LuaIsolation, ACallThatHasMetABoundWaitsForNothingMore) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_body(m)\n"
                     "  pcall(function()\n"
                     "    local x <close> = setmetatable({}, {__close = m.body.chunk})\n"
                     "    while true do end\n"
                     "  end)\n"
                     "  m.headers:set('x-after', '1')\n"
                     "end"),
            "");
  rig.request({});
  EXPECT_TRUE(rig.run(Phase::kRequestBody, "a", false).starts_with("budget: "));
  EXPECT_EQ(rig.requestFields(), "");
}

TEST(LuaIsolation, AScriptLeavesNoMoreFunctionsThanTheGatewayCanExamine) {
  LuaRig rig;
  const std::string text(40'000, 'x');
  const std::string refused = rig.load("T = {} for i = 1, 300 do T[i] = function() return '" + text +
                                       "' end end\nfunction request_headers() end");
  EXPECT_NE(refused.find("the script leaves too many functions"), std::string::npos) << refused;
}

TEST(LuaIsolation, ADocumentOfManyLevelsIsNone) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_body(m) if not m.body:json() then m.headers:set('x-json', 'no') end end"), "");
  rig.request({});
  EXPECT_EQ(rig.once(Phase::kRequestBody, std::string(100'000, '[')), "continue");
  EXPECT_EQ(rig.requestFields(), "x-json=no;");
}

/// Returns the number that xoshiro256** gives behind these four, from which its whole state follows.
std::uint64_t foretold(const std::array<std::uint64_t, 4>& given) {
  constexpr std::uint64_t kBack9 = 0x8E38E38E38E38E39;  // times 9 is 1
  constexpr std::uint64_t kBack5 = 0xCCCCCCCCCCCCCCCD;  // times 5 is 1
  std::array<std::uint64_t, 4> second{};                // the second word of the state, before each number
  for (std::size_t i = 0; i < 4; ++i) second[i] = std::rotr(given[i] * kBack9, 7) * kBack5;
  const auto& [p, q, r, s] = second;
  // The words of the state behind the first number.
  std::uint64_t c = p ^ q ^ (p << 17U);
  std::uint64_t a = r ^ q ^ c;
  std::uint64_t d = s ^ r ^ c ^ (q << 17U) ^ q;
  std::uint64_t b = q;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t shifted = b << 17U;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = std::rotl(d, 45);
  }
  return std::rotl(b * 5, 7) * 9;
}

TEST(LuaIsolation, RandomNumbersOfOneCallForetellNoneOfAnother) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"lua(
    function request_headers(m)
      local seen = {}
      for i = 1, 5 do seen[i] = math.random(0) end
      m:respond(200, nil, table.concat(seen, " "))
    end)lua"),
            "");
  rig.request({});
  std::uint64_t known = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(rig.once(), "reply 200");
    std::istringstream words(*rig.reply->body);
    std::array<std::int64_t, 5> numbers{};
    for (std::int64_t& each : numbers) words >> each;
    std::array<std::uint64_t, 5> seen{};
    std::copy(numbers.begin(), numbers.end(), seen.begin());
    EXPECT_NE(seen[0], known) << "the first number of this call followed from the last call";
    EXPECT_EQ(seen[4], foretold({seen[0], seen[1], seen[2], seen[3]})) << "within a call they are a sequence";
    known = foretold({seen[1], seen[2], seen[3], seen[4]});
  }
}

TEST(LuaIsolation, RandomNumbersAreInTheIntervalThatIsAskedFor) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"lua(
    local loaded = math.random(1, 6)
    function request_headers(m)
      assert(loaded >= 1 and loaded <= 6)
      local seen = {}
      for i = 1, 500 do
        local one, die, wide = math.random(), math.random(6), math.random(math.mininteger, math.maxinteger)
        assert(one >= 0 and one < 1 and math.type(die) == "integer" and math.type(wide) == "integer")
        seen[die] = true
      end
      assert(#seen == 6 and seen[0] == nil and math.random(7, 7) == 7)
      assert(not pcall(math.random, 2, 1) and not pcall(math.random, 1, 2, 3) and math.randomseed == nil)
    end)lua"),
            "");
  rig.request({});
  EXPECT_EQ(rig.once(), "continue");
}

TEST(LuaIsolation, ACallThatWaitsEndsWithItsWorker) {
  LuaRig rig;
  ASSERT_EQ(rig.load(kKeeper), "");
  rig.request({}, "/1");
  EXPECT_EQ(rig.run(Phase::kRequestBody, "", false), "continue");
  rig.services.workerStates().clear();
  EXPECT_EQ(rig.run(Phase::kRequestBody, "a", true), "dropped: the worker ends");
}

TEST(LuaIsolation, EachPieceOfABodyHasInstructionsOfItsOwn) {
  LuaRig rig;
  rig.bounds.instructions = 20'000;
  ASSERT_EQ(rig.load(R"lua(
    function request_body(m)
      repeat
        local piece, last = m.body:chunk()
        for i = 1, tonumber(piece) do end
      until last
    end)lua"),
            "");
  rig.request({});
  EXPECT_EQ(rig.run(Phase::kRequestBody, "", false), "continue");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rig.run(Phase::kRequestBody, "5000", false), "continue") << i;
  EXPECT_TRUE(rig.run(Phase::kRequestBody, "50000", true).starts_with("budget: processor.lua:5: takes more than"));
}

TEST(LuaIsolation, ACallRunsNoLongerThanItsStepMayTake) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_headers(m) for i = 1, 100000 do end end"), "");
  rig.request({});
  EXPECT_EQ(rig.once(), "continue");
  rig.timeout = base::Duration(-1);
  EXPECT_EQ(rig.once(), "budget: processor.lua:1: runs longer than its timeout");
}

}  // namespace
}  // namespace sluice::test
