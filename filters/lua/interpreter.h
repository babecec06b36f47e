// A state of Lua with one script in it, which calls the script's functions.
//
// It belongs to one worker and one entry of a catalog. Calls that wait share it; nothing that one of them does is seen
// by another, because everything that outlives a call is frozen. All that wait hold at most half of the memory, so that
// a call that runs has the other half: when they hold more, a call of the client whose calls hold most ends. So clients
// cannot take from each other what is the share of each. Used on the worker's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "proxy/base/result.h"
#include "proxy/processing/phase.h"

namespace sluice::filters::lua {

/// The functions that a script has for the phases.
struct ScriptFunctions {
  std::array<bool, processing::kPhases> has{};
  std::array<BodyUse, processing::kPhases> body{};
};

class ScriptRun;

class LuaInterpreter {
 public:
  /// The outcome of one stretch of a call.
  enum class Stretch : std::uint8_t {
    kDone,
    kWaits,  // for a piece of the body, or for the answer to a callout
    kFailed  // see fault()
  };

  explicit LuaInterpreter(const ScriptBounds& bounds) : context_(bounds) {}
  LuaInterpreter(const LuaInterpreter&) = delete;
  LuaInterpreter& operator=(const LuaInterpreter&) = delete;
  ~LuaInterpreter();

  /// Loads the script, whose name is `file`, and freezes what it leaves. An error has config's origin, and file and
  /// line where they are known. To be called once, first.
  base::Result<ScriptFunctions> load(std::string_view script, std::string_view file);

  /// Begins the call of the script's function for the phase of `run`, or goes on with it. `run` ends by itself.
  Stretch advance(ScriptRun& run, const base::Clock& clock, base::MonotonicTime until);
  /// Returns the reason of the last failure, with file and line.
  const std::string& fault() const { return fault_; }
  /// Returns true if the last failure was a bound that was met.
  bool hasMetBound() const { return metBound_; }
  /// Returns true if that was the bound of memory, which all calls share.
  bool lacksMemory() const { return lacksMemory_; }
  /// Returns true if calls are waiting.
  bool isBusy() const { return !runs_.empty(); }

 private:
  friend class ScriptRun;

  /// A thread of the state that no call uses, or that one does.
  struct LuaThread {
    lua_State* state = nullptr;
    int key = 0;                       // in the registry
    MemoryAccount* account = nullptr;  // on which its calls take memory
  };

  /// Calls `work` with errors of Lua caught. Returns false if there was one, and sets fault_.
  template <typename Work>
  bool guarded(Work&& work);
  bool takeThread(LuaThread& thread);
  void giveBack(LuaThread& thread, bool clean);
  void collectGarbage();
  void collectIfMuch();
  bool mayWait(ScriptRun& run);
  ScriptRun& heaviest() const;
  void forget(ScriptRun& run);
  void explain(lua_State* state, int status);

  ScriptContext context_;
  lua_State* state_ = nullptr;
  std::array<int, processing::kPhases> functions_{};  // keys in the registry; 0: there is none
  int message_ = 0;                                   // the key of `m` there
  std::vector<LuaThread> idle_;
  std::vector<ScriptRun*> runs_;
  std::string fault_;
  bool metBound_ = false;
  bool lacksMemory_ = false;
  std::uint64_t live_ = 0;     // the memory in use when garbage was collected last
  std::uint64_t waiting_ = 0;  // that of calls that waited, when it was last counted
};

/// One call of a script's function, from its begin to its end. It belongs to the state of a step, and may outlive the
/// interpreter, which then has ended it.
class ScriptRun {
 public:
  explicit ScriptRun(const ScriptUse& use) : script(use) {}
  ScriptRun(const ScriptRun&) = delete;
  ScriptRun& operator=(const ScriptRun&) = delete;
  ~ScriptRun() { end(); }

  bool isRunning() const { return owner_ != nullptr; }
  /// Returns true if it has been ended while it waited, because it held memory that others needed.
  bool hasGivenWay() const { return gaveWay_; }
  /// Begins to count its instructions anew.
  void renew() { spent_ = 0; }
  /// Ends it without an outcome.
  void end();

  ScriptCall script;

 private:
  friend class LuaInterpreter;

  LuaInterpreter* owner_ = nullptr;
  LuaInterpreter::LuaThread thread_;
  std::size_t index_ = 0;  // among the runs of its owner
  std::uint64_t spent_ = 0;
  std::uint64_t client_ = 0;  // while it waits
  bool gaveWay_ = false;
};

}  // namespace sluice::filters::lua
