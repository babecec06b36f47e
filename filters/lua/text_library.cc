#include "filters/lua/text_library.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "filters/lua/lua_object.h"
#include "filters/lua/script_context.h"

namespace sluice::filters::lua {
namespace {

/// The cost of compiling an expression for each instruction of its program, and that of a search which must also find
/// groups, relative to one byte.
constexpr std::uint64_t kCompiling = 20;
constexpr std::uint64_t kGroupsPerByte = 4;
/// Parsing an expression costs this for each of its bytes, whether it can be used or not.
constexpr std::uint64_t kParsing = 64;
/// The most instructions of a program that RE2 is sure to run as an automaton, within the memory that PatternCache
/// gives it. A larger one may cost a step for each byte and instruction.
constexpr std::uint64_t kAutomaton = 200;

using Groups = std::array<re2::StringPiece, PatternCache::kMostGroups + 1>;

/// A search of one call: a pattern and the text that it is looked for in, both arguments.
class TextSearch {
 public:
  TextSearch(lua_State* state, int pattern, int text) : state_(state), text_(textArgument(state, text)) {
    ScriptContext& context = contextOf(state);
    const std::string_view wanted = textArgument(state, pattern);
    pattern_ = context.patterns.find(wanted);
    if (pattern_ != nullptr) return;
    if (wanted.size() <= PatternCache::kLongest) context.meter.charge(state, wanted.size() * kParsing);
    auto compiled = context.patterns.compile(wanted);
    if (compiled) {
      pattern_ = std::move(*compiled);
      isNew_ = true;
    } else {
      fault_ = compiled.error().detail;
    }
  }

  /// Raises an error if there is no such pattern, and charges for one search of the whole text, or of none if it goes
  /// on.
  void begin(int argument, bool goesOn = false) {
    if (pattern_ == nullptr) {
      pushText(state_, "the pattern " + fault_);
      luaL_argerror(state_, argument, lua_tostring(state_, -1));
    }
    ScriptMeter& meter = contextOf(state_).meter;
    const auto size = static_cast<std::uint64_t>(pattern_->ProgramSize());
    if (isNew_) meter.charge(state_, size * kCompiling);
    groups_ = pattern_->NumberOfCapturingGroups();
    if (goesOn) return;
    meter.charge(state_, 1 + text_.size() / 8 + text_.size() * size / (size > kAutomaton ? 64 : 4096));
    meter.lookAtClock(state_);
    if (groups_ > 0) meter.chargeBytes(state_, text_.size() * kGroupsPerByte);
  }

  /// Looks for the pattern from `at` on.
  bool next(std::size_t at) {
    contextOf(state_).meter.charge(state_, 8);
    contextOf(state_).meter.checkTime(state_);
    return pattern_->Match(re2::StringPiece(text_.data(), text_.size()), at, text_.size(), re2::RE2::UNANCHORED,
                           found_.data(), groups_ + 1);
  }
  std::size_t first() const { return static_cast<std::size_t>(found_[0].data() - text_.data()); }
  std::size_t length() const { return found_[0].size(); }
  std::string_view text() const { return text_; }
  int groups() const { return groups_; }

  /// Returns a group as a text; group 0 is the whole match. One that took no part is empty.
  std::string_view group(int index) const {
    const re2::StringPiece& piece = found_[static_cast<std::size_t>(index)];
    return piece.data() == nullptr ? std::string_view() : std::string_view(piece.data(), piece.size());
  }
  void push(int index) const {
    if (found_[static_cast<std::size_t>(index)].data() == nullptr) {
      lua_pushnil(state_);
    } else {
      pushText(state_, group(index));
    }
  }
  /// Pushes the groups, or the whole match if the pattern has none. Returns how many.
  int pushAll() const {
    luaL_checkstack(state_, groups_ + 1, nullptr);
    if (groups_ == 0) push(0);
    for (int i = 1; i <= groups_; ++i) push(i);
    return std::max(groups_, 1);
  }

 private:
  lua_State* const state_;
  const std::string_view text_;
  std::shared_ptr<const re2::RE2> pattern_;  // which the cache may forget meanwhile
  bool isNew_ = false;
  int groups_ = 0;
  std::string fault_;
  Groups found_;
};

/// Returns the index, from 0 on, at which a search begins that an argument names as Lua does; npos if it is behind the
/// text.
std::size_t startOf(lua_State* state, int argument, std::size_t size) {
  const lua_Integer given = luaL_optinteger(state, argument, 1);
  const auto length = static_cast<lua_Integer>(size);
  if (given > length + 1) return std::string_view::npos;
  if (given > 0) return static_cast<std::size_t>(given - 1);
  return given == 0 || given < -length ? 0 : static_cast<std::size_t>(length + given);
}

int findPlain(lua_State* state) {
  const std::string_view text = textArgument(state, 1);
  const std::string_view wanted = textArgument(state, 2);
  contextOf(state).meter.chargeBytes(state, text.size() + wanted.size());
  const std::size_t start = startOf(state, 3, text.size());
  const void* const found =
      start == std::string_view::npos
          ? nullptr
          : memmem(text.data() + start, text.size() - start, wanted.data(), wanted.size());  // linear, unlike find()
  if (found == nullptr) {
    lua_pushnil(state);
    return 1;
  }
  const auto at = static_cast<const char*>(found) - text.data();
  lua_pushinteger(state, at + 1);
  lua_pushinteger(state, at + static_cast<lua_Integer>(wanted.size()));
  return 2;
}

int matchArguments(lua_State* state, int pattern, int text) {
  TextSearch search(state, pattern, text);
  search.begin(pattern);
  const std::size_t start = startOf(state, 3, search.text().size());
  if (start != std::string_view::npos && search.next(start)) return search.pushAll();
  lua_pushnil(state);
  return 1;
}

int matchOfText(lua_State* state) { return matchArguments(state, 2, 1); }
int matchPattern(lua_State* state) { return matchArguments(state, 1, 2); }

int findPattern(lua_State* state) {
  TextSearch search(state, 1, 2);
  search.begin(1);
  const std::size_t start = startOf(state, 3, search.text().size());
  if (start == std::string_view::npos || !search.next(start)) {
    lua_pushnil(state);
    return 1;
  }
  lua_pushinteger(state, static_cast<lua_Integer>(search.first() + 1));
  lua_pushinteger(state, static_cast<lua_Integer>(search.first() + search.length()));
  if (search.groups() == 0) return 2;
  return 2 + search.pushAll();
}

/// The iterator of gmatch(): upvalues are text, pattern and the place from which it goes on.
int nextMatch(lua_State* state) {
  lua_settop(state, 0);
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_pushvalue(state, lua_upvalueindex(2));
  const auto at = static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(3)));
  TextSearch search(state, 2, 1);
  // The first search is charged for the whole text, later ones by what they pass.
  search.begin(2, at != 0);
  if (at > search.text().size() || !search.next(at)) {
    lua_pushnil(state);
    return 1;
  }
  const std::size_t end = search.first() + search.length();
  lua_pushinteger(state, static_cast<lua_Integer>(search.length() == 0 ? end + 1 : end));
  lua_replace(state, lua_upvalueindex(3));
  return search.pushAll();
}

int eachMatch(lua_State* state) {
  textArgument(state, 1);
  textArgument(state, 2);
  lua_settop(state, 2);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, nextMatch, 3);
  return 1;
}

/// Adds a replacement that is a text: %0 is the match, %1 to %9 are its groups, %% is a percent sign.
void addExpanded(lua_State* state, luaL_Buffer& result, const TextSearch& search, std::string_view replacement) {
  while (true) {
    const std::size_t mark = replacement.find('%');
    const std::string_view plain = replacement.substr(0, mark);
    luaL_addlstring(&result, plain.data(), plain.size());
    if (mark == std::string_view::npos) return;
    const char next = mark + 1 < replacement.size() ? replacement[mark + 1] : '\0';
    if (next == '%') {
      luaL_addchar(&result, '%');
    } else if (next >= '0' && next <= '9' && next - '0' <= std::max(search.groups(), 1)) {
      const std::string_view group = search.group(search.groups() == 0 ? 0 : next - '0');
      luaL_addlstring(&result, group.data(), group.size());
    } else {
      luaL_error(state, "invalid use of '%%' in the replacement");
    }
    replacement.remove_prefix(mark + 2);
  }
}

/// Adds the replacement of one match: that of a text, a table or a function, the argument `by`.
void addReplacement(lua_State* state, luaL_Buffer& result, const TextSearch& search, int by) {
  if (lua_type(state, by) == LUA_TFUNCTION) {
    lua_pushvalue(state, by);
    const int given = search.pushAll();
    lua_call(state, given, 1);
  } else if (lua_type(state, by) == LUA_TTABLE) {
    search.push(search.groups() == 0 ? 0 : 1);
    lua_gettable(state, by);
  } else {
    return addExpanded(state, result, search, textArgument(state, by));
  }
  if (lua_toboolean(state, -1) == 0) {
    lua_pop(state, 1);
    const std::string_view whole = search.group(0);
    luaL_addlstring(&result, whole.data(), whole.size());
  } else if (lua_isstring(state, -1) == 0) {
    luaL_error(state, "the replacement is a %s and no text", luaL_typename(state, -1));
  } else {
    luaL_addvalue(&result);
  }
}

int replaceMatches(lua_State* state, int pattern, int text) {
  TextSearch search(state, pattern, text);
  search.begin(pattern);
  const int kind = lua_type(state, 3);
  luaL_argexpected(state, kind == LUA_TSTRING || kind == LUA_TNUMBER || kind == LUA_TTABLE || kind == LUA_TFUNCTION, 3,
                   "string/function/table");
  const lua_Integer most = luaL_optinteger(state, 4, static_cast<lua_Integer>(search.text().size()) + 1);
  lua_settop(state, 4);
  luaL_Buffer result;
  luaL_buffinit(state, &result);
  std::size_t at = 0;
  lua_Integer count = 0;
  while (count < most && at <= search.text().size() && search.next(at)) {
    ++count;
    luaL_addlstring(&result, search.text().data() + at, search.first() - at);
    addReplacement(state, result, search, 3);
    at = search.first() + search.length();
    if (search.length() > 0) continue;
    if (at < search.text().size()) luaL_addchar(&result, search.text()[at]);
    ++at;
  }
  if (at < search.text().size()) luaL_addlstring(&result, search.text().data() + at, search.text().size() - at);
  luaL_pushresult(&result);
  lua_pushinteger(state, count);
  return 2;
}

int replaceInText(lua_State* state) { return replaceMatches(state, 2, 1); }
int replacePattern(lua_State* state) { return replaceMatches(state, 1, 2); }

/// Is Lua's own, which repeats an empty text without end.
int repeatText(lua_State* state) {
  const std::string_view text = textArgument(state, 1);
  const lua_Integer count = luaL_checkinteger(state, 2);
  const std::string_view between = lua_isnoneornil(state, 3) ? std::string_view() : textArgument(state, 3);
  if (count <= 0 || text.size() + between.size() == 0) {
    pushText(state, "");
    return 1;
  }
  contextOf(state).meter.charge(state, static_cast<std::uint64_t>(count));
  luaL_Buffer result;
  luaL_buffinit(state, &result);
  for (lua_Integer i = 0; i < count; ++i) {
    luaL_addlstring(&result, text.data(), text.size());
    if (i + 1 < count) luaL_addlstring(&result, between.data(), between.size());
  }
  luaL_pushresult(&result);
  return 1;
}

}  // namespace

void openTexts(lua_State* state) {
  static constexpr luaL_Reg kTexts[] = {{"find", findPlain},     {"match", matchOfText}, {"gmatch", eachMatch},
                                        {"gsub", replaceInText}, {"rep", repeatText},    {nullptr, nullptr}};
  static constexpr luaL_Reg kPatterns[] = {
      {"match", matchPattern}, {"find", findPattern}, {"gsub", replacePattern}, {nullptr, nullptr}};
  lua_getglobal(state, "string");
  luaL_setfuncs(state, kTexts, 0);
  // The methods of strings are those of a script, without the arithmetic of Lua's own metatable.
  pushText(state, "");
  lua_newtable(state);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 2);
  addLibrary(state, "re", kPatterns);
}

}  // namespace sluice::filters::lua
