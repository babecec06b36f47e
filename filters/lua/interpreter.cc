#include "filters/lua/interpreter.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "filters/lua/base_library.h"
#include "filters/lua/callout_library.h"
#include "filters/lua/digest_library.h"
#include "filters/lua/frozen.h"
#include "filters/lua/message_object.h"
#include "filters/lua/random_library.h"
#include "filters/lua/record_library.h"

namespace sluice::filters::lua {
namespace {

using processing::Phase;

/// The most idle threads that are kept, and the longest reason of a failure.
constexpr std::size_t kMostIdle = 16;
constexpr std::size_t kLongestFault = 256;
/// The longest time in which a script is loaded, on any machine.
constexpr std::chrono::seconds kLongestLoad{5};

/// Returns the name of the function for a phase: "request_headers".
std::string functionOf(Phase phase) {
  std::string name(processing::phaseName(phase));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Collects the strings of a function and of all functions that it may call: those that it knows by a variable, and
/// those of globals that it names.
class MentionedStrings {
 public:
  MentionedStrings(lua_State* state, const FunctionFacts& facts) : state_(state), facts_(facts) {}

  /// Looks at the value on top of the stack, and removes it.
  void visit(int depth = 0) {
    luaL_checkstack(state_, 6, nullptr);
    const bool isNew = depth < kMostDepth && (lua_istable(state_, -1) || lua_isfunction(state_, -1)) &&
                       seen_.insert(lua_topointer(state_, -1)).second;
    if (isNew && lua_istable(state_, -1)) {
      if (pushContent(state_, -1)) lua_replace(state_, -2);
      lua_pushnil(state_);
      while (lua_next(state_, -2) != 0) visit(depth + 1);
    } else if (isNew && lua_iscfunction(state_, -1) == 0) {
      visitFunction(depth);
    }
    lua_pop(state_, 1);
  }
  bool has(std::string_view name) const { return strings_.contains(name); }

 private:
  static constexpr int kMostDepth = 100;

  void visitFunction(int depth) {
    const auto known = facts_.find(lua_topointer(state_, -1));
    if (known == facts_.end()) return;
    for (int i = 1;; ++i) {
      const char* const name = lua_getupvalue(state_, -1, i);
      if (name == nullptr) break;
      if (std::string_view(name) == "_ENV") {
        lua_pop(state_, 1);
      } else {
        visit(depth + 1);
      }
    }
    for (const std::string& text : known->second.strings) {
      strings_.insert(text);
      lua_getglobal(state_, text.c_str());
      visit(depth + 1);
    }
  }

  lua_State* const state_;
  const FunctionFacts& facts_;
  std::set<const void*> seen_;
  std::set<std::string, std::less<>> strings_;
};

}  // namespace

LuaInterpreter::~LuaInterpreter() {
  for (ScriptRun* const run : runs_) run->owner_ = nullptr;
  if (state_ == nullptr) return;
  context_.meter.close();
  lua_close(state_);
}

template <typename Work>
bool LuaInterpreter::guarded(Work&& work) {
  const auto call = [](lua_State* state) {
    (*static_cast<std::remove_reference_t<Work>*>(lua_touserdata(state, 1)))(state);
    return 0;
  };
  lua_pushcfunction(state_, call);
  lua_pushlightuserdata(state_, &work);
  const int status = lua_pcall(state_, 1, 0, 0);
  if (status != LUA_OK) explain(state_, status);
  lua_settop(state_, 0);
  return status == LUA_OK;
}

base::Result<ScriptFunctions> LuaInterpreter::load(std::string_view script, std::string_view file) {
  state_ = lua_newstate(ScriptMeter::allocate, &context_.meter);
  if (state_ == nullptr) return base::Error::config("there is no memory for a script");
  contextPlace(state_) = &context_;
  static const base::SystemClock kClock;
  context_.meter.begin(kClock, kClock.now() + kLongestLoad, 0);
  context_.meter.countLoading(false);
  context_.meter.watch(state_);
  ScriptFunctions functions;
  const bool good = guarded([&](lua_State* state) {
    openLibraries(state);
    openDigests(state);
    openCallouts(state);
    openRecords(state);
    openRandom(state);
    knowLibrary(state);
    lua_pushglobaltable(state);
    lua_setglobal(state, "_G");
    pushMessage(state);
    message_ = luaL_ref(state, LUA_REGISTRYINDEX);
    const std::string name = "@" + std::string(file);
    context_.meter.countLoading(true);
    if (luaL_loadbufferx(state, script.data(), script.size(), name.c_str(), "t") != LUA_OK) lua_error(state);
    lua_call(state, 0, 0);
    context_.meter.countLoading(false);
    FunctionFacts facts;
    freezeGlobals(state, facts);
    for (std::size_t i = 0; i < processing::kPhases; ++i) {
      if (lua_getglobal(state, functionOf(static_cast<Phase>(i)).c_str()) != LUA_TFUNCTION ||
          lua_iscfunction(state, -1) != 0) {
        lua_pop(state, 1);
        continue;
      }
      functions.has[i] = true;
      lua_pushvalue(state, -1);
      MentionedStrings mentioned(state, facts);
      mentioned.visit();
      functions.body[i] = !mentioned.has("body")   ? BodyUse::kNone
                          : mentioned.has("chunk") ? BodyUse::kStreamed
                                                   : BodyUse::kWhole;
      functions_[i] = luaL_ref(state, LUA_REGISTRYINDEX);
    }
  });
  if (!good) return base::Error::config(fault_);
  return functions;
}

bool LuaInterpreter::takeThread(LuaThread& thread) {
  if (!idle_.empty()) {
    thread = idle_.back();
    idle_.pop_back();
    return true;
  }
  ScriptMeter& meter = context_.meter;
  thread.account = &meter.open();
  const bool made = guarded([&](lua_State* state) {
    meter.payBy(thread.account);
    thread.state = lua_newthread(state);
    meter.payBy(nullptr);
    thread.key = luaL_ref(state, LUA_REGISTRYINDEX);
  });
  meter.payBy(nullptr);
  if (!made) ScriptMeter::close(*thread.account);
  return made;
}

void LuaInterpreter::giveBack(LuaThread& thread, bool clean) {
  if (clean && idle_.size() < kMostIdle) {
    lua_settop(thread.state, 0);
    idle_.push_back(thread);
  } else {
    // The thread is left to the collector as it is: to close its variables (`local x <close>`) would run what the
    // script wants to run then, and no hook counts that in a thread that has failed.
    luaL_unref(state_, LUA_REGISTRYINDEX, thread.key);
    ScriptMeter::close(*thread.account);
  }
  thread = {};
}

LuaInterpreter::Stretch LuaInterpreter::advance(ScriptRun& run, const base::Clock& clock, base::MonotonicTime until) {
  if (run.owner_ == nullptr) collectIfMuch();
  context_.meter.begin(clock, until, run.spent_);
  int given = 0;
  if (run.owner_ == nullptr) {
    if (!takeThread(run.thread_)) return Stretch::kFailed;
    run.owner_ = this;
    run.index_ = runs_.size();
    runs_.push_back(&run);
    lua_State* const thread = run.thread_.state;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, functions_[static_cast<std::size_t>(run.script.call().phase)]);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, message_);
    given = 1;
  }
  lua_State* const thread = run.thread_.state;
  context_.meter.watch(thread);
  context_.call = &run.script;
  context_.meter.payBy(run.thread_.account);
  int results = 0;
  const int status = lua_resume(thread, state_, given, &results);
  context_.meter.payBy(nullptr);
  context_.call = nullptr;
  run.spent_ = context_.meter.spent();
  // A call that is over may still wait, while its variables are closed. It goes on no more.
  if (status == LUA_YIELD && context_.meter.end() == ScriptEnd::kNone) {
    lua_pop(thread, results);
    return mayWait(run) ? Stretch::kWaits : Stretch::kFailed;
  }
  const bool answered = context_.meter.end() == ScriptEnd::kAnswered;
  const bool isNil = status == LUA_OK && (results == 0 || lua_isnil(thread, -results));
  if (status != LUA_OK && !answered) explain(thread, status);
  if (status == LUA_OK && !isNil) {
    metBound_ = lacksMemory_ = false;
    fault_ = functionOf(run.script.call().phase) + " returns a " + luaL_typename(thread, -results) + ", not nil";
  }
  forget(run);
  giveBack(run.thread_, status == LUA_OK);
  run.owner_ = nullptr;
  return isNil || answered ? Stretch::kDone : Stretch::kFailed;
}

void LuaInterpreter::collectGarbage() {
  lua_gc(state_, LUA_GCCOLLECT);
  live_ = context_.meter.used();
}

/// Collects what calls have left once it is much, so that it does not take the room of the next call.
void LuaInterpreter::collectIfMuch() {
  const std::uint64_t memory = context_.meter.bounds().memory;
  if (context_.meter.used() > std::min(std::max(memory / 4, 2 * live_), memory / 4 * 3)) collectGarbage();
}

/// Called when a call has begun to wait. Ends calls that wait as long as all of them hold more than half of the memory
/// that the script itself leaves. Returns false if this one was among them.
bool LuaInterpreter::mayWait(ScriptRun& run) {
  ScriptMeter& meter = context_.meter;
  const std::uint64_t memory = meter.bounds().memory;
  const std::uint64_t ofScript = meter.used() - meter.ofCalls();
  const std::uint64_t most = (memory - std::min(memory, ofScript)) / 2;
  run.client_ = run.script.call().control.client();
  // Includes garbage, which is collected for this purpose only when there is more of it.
  if (meter.ofCalls() <= std::max(most, waiting_ + most / 8)) return true;
  collectGarbage();
  waiting_ = 0;
  for (const ScriptRun* const each : runs_) waiting_ += each->thread_.account->held;
  const std::uint64_t own = run.thread_.account->held;
  lua_State* const thread = run.thread_.state;
  while (waiting_ > most) {
    ScriptRun& loser = heaviest();
    waiting_ -= loser.thread_.account->held;
    loser.gaveWay_ = true;
    loser.end();
  }
  if (!run.gaveWay_) return true;
  metBound_ = true;
  lacksMemory_ = own <= most;
  fault_ = scriptPlace(thread, 0) + "waits with " + std::to_string(own) +
           " bytes of memory, and all calls that wait may have " + std::to_string(most);
  return false;
}

/// Returns the call that holds most, of those of the client whose calls hold most.
ScriptRun& LuaInterpreter::heaviest() const {
  std::map<std::uint64_t, std::uint64_t> held;
  for (const ScriptRun* const run : runs_) held[run->client_] += run->thread_.account->held;
  const auto less = [&](const ScriptRun* a, const ScriptRun* b) {
    return std::pair(held[a->client_], a->thread_.account->held) <
           std::pair(held[b->client_], b->thread_.account->held);
  };
  return **std::max_element(runs_.begin(), runs_.end(), less);
}

void LuaInterpreter::forget(ScriptRun& run) {
  runs_[run.index_] = runs_.back();
  runs_[run.index_]->index_ = run.index_;
  runs_.pop_back();
}

/// Sets the reason of a failure. The error may be any value; one that is no text is not asked for one.
void LuaInterpreter::explain(lua_State* state, int status) {
  ScriptMeter& meter = context_.meter;
  if (status == LUA_ERRMEM) meter.endByMemory();
  metBound_ = meter.end() == ScriptEnd::kSpent;
  lacksMemory_ = metBound_ && meter.lacksMemory();
  if (metBound_) {
    fault_ = meter.why();
  } else if (lua_type(state, -1) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(state, -1, &size);
    fault_.assign(text, std::min(size, kLongestFault));
    std::replace_if(
        fault_.begin(), fault_.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  } else {
    fault_ = std::string("the error is a ") + luaL_typename(state, -1) + " and no text";
  }
}

void ScriptRun::end() {
  if (owner_ == nullptr) return;
  LuaInterpreter& owner = *std::exchange(owner_, nullptr);
  owner.forget(*this);
  owner.giveBack(thread_, false);
}

}  // namespace sluice::filters::lua
