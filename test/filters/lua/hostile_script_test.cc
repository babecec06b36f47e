// Scripts that try to take more than they may, to escape, or to keep something for the next call.
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

#include "test/filters/lua/lua_rig.h"

namespace sluice::test {
namespace {

/// A script, or what request_headers(m) does if it does not begin with "!"; and the begin of the outcome.
struct HostileScript {
  const char* name;
  const char* text;
  const char* outcome;
};

void PrintTo(const HostileScript& hostile, std::ostream* out) { *out << hostile.text; }

class HostileScripts : public ::testing::TestWithParam<HostileScript> {};

constexpr HostileScript kEndless[] = {
    {"WhileTrue", "while true do end", "budget: processor.lua:1: takes more than"},
    {"Goto", "::again:: goto again", "budget: "},
    {"Repeat", "repeat until false", "budget: "},
    {"NumericFor", "for i = 1, math.maxinteger do end", "budget: "},
    {"TailCall", "local function f() return f() end f()", "budget: "},
    {"PcallLoop", "while true do pcall(function() while true do end end) end", "budget: "},
    {"PcallOfPcall", "while true do pcall(pcall, pcall, error) end", "budget: "},
    {"XpcallHandler", "xpcall(function() while true do end end, function() while true do end end)", "budget: "},
    {"XpcallSwallows",
     "xpcall(function() while true do end end, function() return 1 end) m.headers:set('x-after', '1')", "budget: "},
    {"PcallSwallows", "pcall(function() while true do end end) m.headers:set('x-after', '1')", "budget: "},
    {"CloseGoesOn",
     "local t <close> = setmetatable({}, {__close = function() while true do end end}) while true do end", "budget: "},
    {"CloseAfterError", "local t <close> = setmetatable({}, {__close = function() while true do end end}) error('x')",
     "script_error: processor.lua:1: x"},
    {"CloseRaisesAgain",
     "pcall(function() local t <close> = setmetatable({}, {__close = function() error('mine') end}) while true do end "
     "end) m.headers:set('x-after', '1')",
     "budget: "},
    {"Metamethods", "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) return t[1]",
     "script_error: processor.lua:1: "},
    {"IndexChain", "local t = {} setmetatable(t, {__index = t}) return t.x", "script_error: "},
    {"ToStringLoop", "local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) tostring(t)",
     "script_error: "},
    {"ConcatLoop", "local t t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. t",
     "script_error: "},
    {"ErrorObject", "error(setmetatable({}, {__tostring = function() while true do end end}))",
     "script_error: the error is a table and no text"},
    {"ErrorNil", "error()", "script_error: the error is a nil and no text"},
    {"ErrorOfMuchText", "error(('xxxxxxxxxx'):rep(1000))", "script_error: processor.lua:1: xxx"},
};

constexpr HostileScript kStorms[] = {
    {"Tables", "local t = {} while true do t = {t} end", "budget: "},
    {"Array", "local t = {} for i = 1, 1e9 do t[i] = i end", "budget: "},
    {"Strings", "local t = {} for i = 1, 1e9 do t[i] = tostring(i) end", "budget: "},
    {"Doubling", "local s = 'x' while true do s = s .. s end", "budget: "},
    {"DoublingCaught", "while true do pcall(function() local s = 'x' while true do s = s .. s end end) end",
     "budget: "},
    {"ConcatOfLong", "local s = ('x'):rep(200000) while true do local t = s .. 'y' end", "budget: "},
    {"Rep", "return ('x'):rep(1e9)", "budget: "},
    {"RepOfNothing", "local s = (''):rep(math.maxinteger)", "continue"},
    {"RepOfOneByte", "return ('x'):rep(math.maxinteger)", "budget: "},
    {"RepWithSeparator", "return (''):rep(math.maxinteger, 'x')", "budget: "},
    {"RepLoop", "while true do local s = ('x'):rep(100000) end", "budget: "},
    {"UpperLoop", "local s = ('x'):rep(100000) while true do s = s:upper() end", "budget: "},
    {"Recursion", "local function f(n) return 1 + f(n + 1) end f(1)", "budget: "},
    {"RecursionOfPcall", "local function f() return pcall(f) end f() while true do end", "budget: "},
    {"RecursionOfGsub", "local function f() return ('x'):gsub('x', f) end f()", "script_error: "},
    {"Closures", "local t = {} while true do t[#t + 1] = function() return t end end", "budget: "},
    {"Varargs", "local function f(...) return f(1, ...) end f()", "budget: "},
    {"Unpack", "return table.unpack({}, 1, 1e8)", "budget: "},
    {"UnpackMost", "return table.unpack({}, 1, math.maxinteger)", "budget: "},
    {"UnpackLoop", "local t = {} while true do select('#', table.unpack(t, 1, 5000)) end", "budget: "},
    {"SelectOfMany", "local function f(...) while true do select('#', ...) end end f(table.unpack({}, 1, 20000))",
     "budget: "},
    {"Concat", "return table.concat({}, ',', 1, math.maxinteger)", "budget: "},
    {"ConcatLength", "return table.concat(setmetatable({}, {__len = function() return 1 << 40 end}))", "budget: "},
    {"InsertLength", "table.insert(setmetatable({}, {__len = function() return 1 << 40 end}), 1, 1)", "script_error: "},
    {"RemoveLength", "table.remove(setmetatable({}, {__len = function() return 1 << 40 end}), 1)", "script_error: "},
    {"Move", "table.move({}, 1, math.maxinteger - 1, 2)", "budget: "},
    {"InsertInFront", "local t = {} for i = 1, 1e6 do table.insert(t, 1, i) end", "budget: "},
    {"SortLength", "table.sort(setmetatable({}, {__len = function() return 1 << 30 end, __index = rawlen}))",
     "script_error: "},
    {"SortLies", "local t = {} for i = 1, 200 do t[i] = i end table.sort(t, function() return true end)",
     "script_error: processor.lua:1: invalid order function for sorting"},
    {"SortForever", "table.sort({3, 2, 1}, function() while true do end end)", "budget: "},
    {"FormatWidth", "return ('%999999d'):format(1)", "script_error: "},
    {"FormatMuch", "return ('%s'):rep(1000):format(table.unpack({}, 1, 1000))", "script_error: "},
    {"Pack", "return string.pack(('i16'):rep(10000), table.unpack({}, 1, 100))", "script_error: "},
    {"PackPadding", "return string.pack('c2000000000', 'x')", "budget: "},
    {"UnpackText", "return ('b'):rep(100000):unpack(('x'):rep(100000))", "budget: "},
    {"Utf8Codes", "return utf8.codepoint(('x'):rep(50000), 1, -1)", "budget: "},
    {"Utf8Loop", "local s = ('x'):rep(50000) while true do utf8.len(s) end", "budget: "},
    {"Bytes", "return ('x'):rep(60000):byte(1, -1)", "budget: "},
    {"ToNumber", "local s = ('1'):rep(50000) while true do tonumber(s) end", "budget: "},
    {"FindLoop", "local s = ('a'):rep(50000) while true do s:find(('a'):rep(20000) .. 'b') end", "budget: "},
    {"RegexBomb", "local s = ('a'):rep(50000) while true do s:match('(a+)+$') end", "budget: "},
    {"RegexRepeats", "return ('a'):match('((a{1000}){1000}){1000}')", "script_error: "},
    {"RegexSize", "return ('a'):match(('aaaaaaaaaa'):rep(1000))", "script_error: "},
    {"RegexMany", "for i = 1, 1e6 do ('a'):match('a' .. i) end", "budget: "},
    {"RegexGroups", "return ('a'):match(('()'):rep(100))", "script_error: "},
    {"GsubEmpty", "local s = ('a'):rep(50000) return s:gsub('', 'x')", "budget: "},
    {"GsubGrows", "local s = 'a' while true do s = s:gsub('a', 'aa') end", "budget: "},
    {"GsubForgetsPattern", "('ab'):gsub('(a)|b', function() for i = 1, 40 do ('a'):match('x' .. i) end return 'z' end)",
     "continue"},
    {"Headers", "while true do m.headers:add('x', 'y') end",
     "script_error: processor.lua:1: a call must not change more than 256 fields"},
    {"HeaderBytes", "for i = 1, 100 do m.headers:add('x', ('y'):rep(10000)) end", "script_error: "},
    {"KeepLoop", "for i = 1, 1e5 do m.source = 1 end", "script_error: processor.lua:1: the field 'source'"},
    {"LongAnswer", "m:respond(200, nil, ('xxxxxxxxxx'):rep(60000))", "budget: "},
    {"SortLongTexts", "local s, t = ('x'):rep(100000), {} for i = 1, 200 do t[i] = s end table.sort(t)", "budget: "},
    {"SortByLibrary",
     "local s, t = ('x'):rep(100000), {} for i = 1, 200 do t[i] = s end table.sort(t, function(a, b) return a < b end)",
     "budget: "},
    {"RegexLargeProgram", "local s = ('a'):rep(50000) return s:match('[a-z]{1,900}@')", "budget: "},
    {"RegexRefusedLoop", "while true do pcall(re.match, ('\\\\pL'):rep(300), '') end", "budget: "},
};

/// Scripts that do little by the count of instructions, or have many of them, so that a clock must end them.
constexpr HostileScript kSlow[] = {
    {"Loop", "while true do end", "budget: processor.lua:1: runs longer than its timeout"},
    {"LoopInPcall", "while true do pcall(function() while true do end end) end",
     "budget: processor.lua:1: runs longer"},
    {"LoopOfPcalls", "while true do pcall(error) end", "budget: processor.lua:1: runs longer"},
    {"LoopInHandler", "xpcall(error, function() while true do end end)", "budget: processor.lua:1: runs longer"},
    {"LoopInClose", "local t <close> = setmetatable({}, {__close = function() while true do end end})",
     "budget: processor.lua:1: runs longer"},
    {"NextOfKeysThatAreGone",
     "local t = {} for i = 1, 2000 do t[i] = i end for i = 1, 2000 do t[i] = nil end while true do next(t) end",
     "budget: processor.lua:1: runs longer"},
    {"Patterns", "local s = ('a'):rep(1000) while true do s:match('b') end", "budget: processor.lua:1: runs longer"},
    {"Gsub", "local s = ('a'):rep(100000) return s:gsub('a', 'b')", "budget: processor.lua:1: runs longer"},
    {"Gmatch", "for _ in (('a'):rep(100000)):gmatch('a') do end", "budget: processor.lua:1: runs longer"},
    {"SortOfTexts", "local t = {} for i = 1, 3000 do t[i] = 'x' .. i end table.sort(t)",
     "budget: processor.lua:1: runs longer"},
    {"SortByFunction", "local t = {} for i = 1, 3000 do t[i] = i end table.sort(t, function(a, b) return a > b end)",
     "budget: processor.lua:1: runs longer"},
};

constexpr HostileScript kEscapes[] = {
    {"Io", "io.open('/etc/passwd')", "script_error: processor.lua:1: attempt to index a nil value (global 'io')"},
    {"Os", "os.execute('true')", "script_error: "},
    {"Require", "require('os')", "script_error: "},
    {"Load", "load('return 1')()", "script_error: "},
    {"Loadstring", "loadstring('return 1')()", "script_error: "},
    {"Dofile", "dofile('/etc/passwd')", "script_error: "},
    {"Debug", "debug.getregistry()", "script_error: "},
    {"Dump", "string.dump(function() end)", "script_error: "},
    {"Collect", "collectgarbage()", "script_error: "},
    {"Coroutine", "coroutine.wrap(function() end)()", "script_error: "},
    {"Print", "print(1)", "script_error: "},
    {"Package", "package.loadlib('x', 'y')", "script_error: "},
    {"Bytecode", "!\x1bLuaT", "load: "},
    {"GcMetamethod", "setmetatable({}, {__gc = function() end})", "script_error: "},
    {"WeakTable", "setmetatable({}, {__mode = 'k'})", "script_error: "},
    {"MetatableOfText", "getmetatable('').__index = {}", "script_error: "},
    {"MethodOfText", "string.upper = nil", "script_error: "},
    {"RawSetLibrary", "rawset(string, 'upper', nil)", "script_error: "},
    {"RawSetGlobals", "rawset(_G, 'x', 1)", "script_error: "},
    {"SetMetatableOfGlobals", "setmetatable(_G, {})", "script_error: "},
    {"SetMetatableOfLibrary", "setmetatable(string, {})", "script_error: "},
    {"MetatableOfMessage", "getmetatable(m).__index = {}", "script_error: "},
    {"MetatableOfHeaders", "setmetatable(m.headers, {})", "script_error: "},
    {"WriteMethods", "m.headers.get = 1", "script_error: "},
    {"Global", "x = 1", "script_error: processor.lua:1: the table is read-only"},
    {"NewEnvironment", "local _ENV = {} x = 1", "continue"},
    {"NextOfGlobals", "local k, v = next(_G) _G[k] = 1", "script_error: "},
    {"InsertIntoLibrary", "table.insert(string, 1)", "script_error: "},
    {"SortGlobals", "table.sort(_G)", "script_error: "},
    {"MoveIntoGlobals", "table.move({1}, 1, 1, 1, _G)", "script_error: "},
    {"OtherBackend", "call('other')", "script_error: "},
    {"Seed", "math.randomseed(1)", "script_error: "},
};

constexpr HostileScript kKept[] = {
    {"Upvalue", "!local n = 0\nfunction request_headers(m) n = n + 1 end",
     "load: processor.lua:2: assigns 'n', a variable outside of the function, which would outlive the call"},
    {"UpvalueWithin", "!local n\nfunction request_headers(m)\n local f = function() n = m end f() end",
     "load: processor.lua:3: assigns 'n'"},
    {"UpvalueOfHelper", "!local n\nlocal function set(v) n = v end\nfunction request_headers(m) set(m) end",
     "load: processor.lua:2: assigns 'n'"},
    {"UpvalueInTable", "!local n\nT = {a = {set = function(v) n = v end}}\nfunction request_headers(m) T.a.set(1) end",
     "load: processor.lua:2: assigns 'n'"},
    {"UpvalueInMetatable",
     "!local n\nT = setmetatable({}, {__index = function(t, k) n = k end})\nfunction request_headers(m) end",
     "load: processor.lua:2: assigns 'n'"},
    {"Environment", "!function request_headers(m) _ENV = {} end", "load: processor.lua:1: assigns '_ENV'"},
    {"Counter", "!local function make() local n = 0 return function() n = n + 1 end end\nf = make()\n",
     "load: processor.lua:1: assigns 'n'"},
    {"CounterOfCall",
     "!local function make() local n = 0 return function() n = n + 1 return n end end\n"
     "function request_headers(m) local f = make() f() if f() ~= 2 then error('?') end end",
     "continue"},
    {"Iterator", "!local i = ('a b'):gmatch('.')\nfunction request_headers(m) i() end", "load: an iterator is kept"},
    {"TableInUpvalue", "!local t = {}\nfunction request_headers(m) t.x = 1 end", "script_error: processor.lua:2: "},
    {"TableInTable", "!local t = {{}}\nfunction request_headers(m) t[1].x = 1 end", "script_error: processor.lua:2: "},
    {"TableAsKey",
     "!local k = {}\nlocal t = {[k] = 1}\nfunction request_headers(m) for k in pairs(t) do k.x = 1 end end",
     "script_error: processor.lua:3: "},
    {"TableInMetatable",
     "!local t = setmetatable({}, {x = {}})\nfunction request_headers(m) getmetatable(t).x.y = 1 end",
     "script_error: processor.lua:2: "},
    {"HandlerGetsTable",
     "!local t = setmetatable({}, {__index = function(t, k) rawset(t, k, 1) return 1 end})\n"
     "function request_headers(m) return t.x end",
     "script_error: processor.lua:1: "},
    {"CallHandler",
     "!local t = setmetatable({}, {__call = function(t) t.x = 1 end})\nfunction request_headers(m) t() end",
     "script_error: processor.lua:1: "},
    {"NewIndexHandler",
     "!local seen = {}\nlocal t = setmetatable({}, {__newindex = function(t, k, v) seen[k] = v end})\n"
     "function request_headers(m) t.x = 1 end",
     "script_error: processor.lua:3: "},
    {"Classes",
     "!local Class = {}\nClass.__index = Class\nfunction Class.new() return setmetatable({n = 1}, Class) end\n"
     "function Class:add() self.n = self.n + 1 return self.n end\n"
     "function request_headers(m) local c = Class.new() if c:add() ~= 2 or getmetatable(c) ~= Class then error('?') "
     "end end",
     "continue"},
    {"ChangeMetatableOfObject",
     "!local Class = {}\nfunction request_headers(m) local c = setmetatable({}, Class) getmetatable(c).x = 1 end",
     "script_error: processor.lua:2: "},
    {"ReadsFrozen",
     "!local t = {10, 20, 30, x = {y = 5}}\nfunction request_headers(m)\n local sum = 0\n"
     " for i, v in ipairs(t) do sum = sum + v end\n for k, v in pairs(t) do if k == 'x' then sum = sum + v.y end end\n"
     " if sum ~= 65 or #t ~= 3 or rawlen(t) ~= 3 or rawget(t, 1) ~= 10 or table.concat(t, ',') ~= '10,20,30' or "
     "select('#', table.unpack(t)) ~= 3 or next(t) == nil then error('?') end end",
     "continue"},
    {"LoadForever", "!while true do end", "load: processor.lua:1: takes more than"},
    {"LoadStorm", "!local t = {} while true do t = {t} end", "load: processor.lua:1: takes more than"},
    {"MessageWhileLoading", "!time()", "load: processor.lua:1: there is no message while the script loads"},
};

std::string outcomeOf(LuaRig& rig, const HostileScript& hostile) {
  const std::string_view text = hostile.text;
  const bool isWhole = text.starts_with('!');
  const std::string refused =
      rig.load(isWhole ? std::string(text.substr(1)) : "function request_headers(m) " + std::string(text) + " end");
  if (!refused.empty()) return "load: " + refused;
  rig.request({});
  return rig.once();
}

TEST_P(HostileScripts, GetNoMoreThanTheyMay) {
  LuaRig rig;
  rig.bounds = {.memory = std::uint64_t{1} << 20U, .instructions = 100'000};
  const HostileScript& hostile = GetParam();
  const std::string outcome = outcomeOf(rig, hostile);
  EXPECT_TRUE(outcome.starts_with(hostile.outcome)) << outcome;
  EXPECT_LT(outcome.size(), 600U);
  EXPECT_EQ(rig.requestFields().find("x-after"), std::string::npos) << "the call went on";
  if (!outcome.starts_with("load: ")) {
    rig.request({});
    EXPECT_EQ(rig.once(), outcome) << "of a state that was made anew";
  }
}

class SlowScripts : public ::testing::TestWithParam<HostileScript> {};

TEST_P(SlowScripts, AreEndedByTheClock) {
  LuaRig rig;
  rig.bounds = {.memory = std::uint64_t{8} << 20U, .instructions = 1'000'000'000'000};
  rig.clock.tick(std::chrono::milliseconds(20));
  const std::string outcome = outcomeOf(rig, GetParam());
  EXPECT_TRUE(outcome.starts_with(GetParam().outcome)) << outcome;
}

std::string nameOf(const ::testing::TestParamInfo<HostileScript>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Endless, HostileScripts, ::testing::ValuesIn(kEndless), nameOf);
INSTANTIATE_TEST_SUITE_P(Storms, HostileScripts, ::testing::ValuesIn(kStorms), nameOf);
INSTANTIATE_TEST_SUITE_P(Clock, SlowScripts, ::testing::ValuesIn(kSlow), nameOf);
INSTANTIATE_TEST_SUITE_P(Escapes, HostileScripts, ::testing::ValuesIn(kEscapes), nameOf);
INSTANTIATE_TEST_SUITE_P(Kept, HostileScripts, ::testing::ValuesIn(kKept), nameOf);

}  // namespace
}  // namespace sluice::test
