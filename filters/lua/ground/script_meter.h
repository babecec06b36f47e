// Bounds what a script takes: the memory of its state, and the instructions and the time of each call.
//
// Work of library functions is counted as instructions, too: the hook of Lua sees only the instructions of its machine.
// Once a bound is met the call is over: every further instruction fails, so that a script cannot catch the error and go
// on. One for each worker and catalog entry, on the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"

struct lua_State;
struct lua_Debug;

namespace sluice::filters::lua {

/// The memory of a state that one of its calls has taken.
struct MemoryAccount {
  std::uint64_t held = 0;
  bool isOpen = true;  // until nothing more is taken on it
};

struct ScriptBounds {
  std::uint64_t memory = std::uint64_t{8} * 1024 * 1024;  // of the state, in bytes
  std::uint64_t instructions = 1'000'000;                 // of one call
};

/// The reason why a call ends before its function returns.
enum class ScriptEnd : std::uint8_t {
  kNone,
  kAnswered,  // it has replied to the client
  kSpent      // it has met a bound
};

class ScriptMeter {
 public:
  explicit ScriptMeter(const ScriptBounds& bounds) : bounds_(bounds) {}
  ScriptMeter(const ScriptMeter&) = delete;
  ScriptMeter& operator=(const ScriptMeter&) = delete;

  /// Opens an account, which lasts as long as memory is taken on it, and at least until it is closed.
  MemoryAccount& open();
  static void close(MemoryAccount& account) { account.isOpen = false; }
  /// From here on new memory is taken on that account; nullptr: on the state's own. Memory that grows stays on the
  /// account on which it was taken.
  void payBy(MemoryAccount* account) { payer_ = account != nullptr ? account : &own_; }
  /// Returns how much is taken on the accounts of calls.
  std::uint64_t ofCalls() const { return used_ - own_.held; }

  /// The allocator of the state (lua_Alloc); `meter` is a ScriptMeter.
  static void* allocate(void* meter, void* block, std::size_t oldSize, std::size_t newSize);

  /// Called when a call begins, or goes on after a wait. `spent` is the number of instructions that it has taken
  /// before. It must not run beyond `until`.
  void begin(const base::Clock& clock, base::MonotonicTime until, std::uint64_t spent);
  /// Called before and after the script itself is loaded: what the gateway does for that does not count.
  void countLoading(bool counts) { counts_ = counts; }
  /// Lets the thread of a call count its instructions.
  void watch(lua_State* thread) const;
  /// Counts `units` of work. Raises an error of Lua if that is too much.
  void charge(lua_State* state, std::uint64_t units);
  /// Counts work on that many bytes.
  void chargeBytes(lua_State* state, std::uint64_t bytes) { charge(state, bytes / kBytesPerUnit); }
  /// Raises an error if the call has run for too long. Called before work that cannot be interrupted.
  void lookAtClock(lua_State* state);
  /// Does so now and then. Called by functions that are called often, and whose work cannot be counted.
  void checkTime(lua_State* state);
  /// Ends the call with an error of Lua that the script cannot catch. `why` is without place.
  [[noreturn]] void stop(lua_State* state, ScriptEnd end, std::string_view why);
  /// Ends the call because the state has no memory left.
  void endByMemory();
  /// Called before a state is closed or a thread is taken back: what the script wants to run then does not run.
  void close();

  ScriptEnd end() const { return end_; }
  /// Returns true if the bound that was met is that of memory.
  bool lacksMemory() const { return lacksMemory_; }
  /// Returns the bound that was met, with the place in the script.
  const std::string& why() const { return why_; }
  std::uint64_t spent() const { return spent_; }
  std::uint64_t used() const { return used_; }
  const ScriptBounds& bounds() const { return bounds_; }

 private:
  friend class PaidByState;

  /// The instructions between two looks at the bounds; fewer where one instruction may work on much memory.
  static constexpr int kPeriod = 1000;
  static constexpr int kShortPeriod = 50;
  static constexpr std::size_t kLargeBlock = std::size_t{64} * 1024;
  static constexpr std::uint64_t kBytesPerUnit = 16;

  static ScriptMeter& of(lua_State* state);
  static void onCount(lua_State* state, lua_Debug* record);
  int period() const;
  bool isOver() const { return spent_ > bounds_.instructions; }
  [[noreturn]] void fail(lua_State* state, std::string_view why, int level);

  const ScriptBounds bounds_;
  MemoryAccount own_;
  MemoryAccount* payer_ = &own_;
  std::vector<std::unique_ptr<MemoryAccount>> accounts_;
  std::size_t sweepAt_ = 16;  // the number of accounts at which those that are over are looked for
  std::uint64_t used_ = 0;
  std::uint64_t spent_ = 0;
  unsigned looks_ = 0;
  bool hasLargeBlock_ = false;
  bool counts_ = false;
  bool lacksMemory_ = false;
  ScriptEnd end_ = ScriptEnd::kNone;
  const base::Clock* clock_ = nullptr;
  base::MonotonicTime until_{};
  std::string why_;
};

/// As long as it lives, memory is taken on the state's own account: for what a call makes and all calls use.
class PaidByState {
 public:
  explicit PaidByState(ScriptMeter& meter) : meter_(meter), before_(meter.payer_) { meter_.payBy(nullptr); }
  PaidByState(const PaidByState&) = delete;
  PaidByState& operator=(const PaidByState&) = delete;
  ~PaidByState() { meter_.payBy(before_); }

 private:
  ScriptMeter& meter_;
  MemoryAccount* const before_;
};

/// Returns the place of the innermost function of the script that the thread is in, "processor.lua:12: ", from that
/// level on; empty if it is in none.
std::string scriptPlace(lua_State* state, int level);

}  // namespace sluice::filters::lua
