#include "filters/lua/ground/script_meter.h"

#include <algorithm>
#include <cstdlib>
#include <lua.hpp>

namespace sluice::filters::lua {

namespace {

constexpr int kDeepestPlace = 8;

/// Lies in front of each block of memory that Lua gets.
struct BlockHead {
  MemoryAccount* payer;
};

BlockHead* blockHead(void* block) { return block != nullptr ? static_cast<BlockHead*>(block) - 1 : nullptr; }

}  // namespace

MemoryAccount& ScriptMeter::open() {
  if (accounts_.size() >= sweepAt_) {
    std::erase_if(accounts_, [](const auto& each) { return !each->isOpen && each->held == 0; });
    sweepAt_ = std::max<std::size_t>(2 * accounts_.size(), 16);
  }
  return *accounts_.emplace_back(std::make_unique<MemoryAccount>());
}

void* ScriptMeter::allocate(void* meter, void* block, std::size_t oldSize, std::size_t newSize) {
  auto& self = *static_cast<ScriptMeter*>(meter);
  BlockHead* const head = blockHead(block);
  // Without a block, oldSize is the kind of the new object.
  const std::size_t old = block == nullptr ? 0 : sizeof(BlockHead) + oldSize;
  const std::size_t wanted = newSize == 0 ? 0 : sizeof(BlockHead) + newSize;
  if (wanted == 0) {
    if (head != nullptr) head->payer->held -= old;
    std::free(head);
    self.used_ -= old;
    return nullptr;
  }
  if (wanted > old) {
    if (self.counts_) self.spent_ += newSize / kBytesPerUnit;
    if (self.isOver()) return nullptr;
    if (self.used_ + (wanted - old) > self.bounds_.memory) {
      // Lua collects everything and tries once more.
      if (self.counts_) self.spent_ += self.used_ / kBytesPerUnit;
      return nullptr;
    }
  }
  auto* const moved = static_cast<BlockHead*>(std::realloc(head, wanted));
  if (moved == nullptr) return wanted > old ? nullptr : block;
  if (block == nullptr) moved->payer = self.payer_;
  moved->payer->held = moved->payer->held - old + wanted;
  self.used_ = self.used_ - old + wanted;
  if (newSize >= kLargeBlock) self.hasLargeBlock_ = true;
  return moved + 1;
}

ScriptMeter& ScriptMeter::of(lua_State* state) {
  void* meter = nullptr;
  lua_getallocf(state, &meter);
  return *static_cast<ScriptMeter*>(meter);
}

void ScriptMeter::begin(const base::Clock& clock, base::MonotonicTime until, std::uint64_t spent) {
  clock_ = &clock;
  until_ = until;
  spent_ = spent;
  counts_ = true;
  end_ = ScriptEnd::kNone;
  lacksMemory_ = false;
  why_.clear();
}

void ScriptMeter::watch(lua_State* thread) const { lua_sethook(thread, onCount, LUA_MASKCOUNT, period()); }

int ScriptMeter::period() const {
  if (end_ == ScriptEnd::kSpent) return 1;
  const std::uint64_t left = bounds_.instructions - std::min(spent_, bounds_.instructions);
  return static_cast<int>(std::min<std::uint64_t>(hasLargeBlock_ ? kShortPeriod : kPeriod, left + 1));
}

void ScriptMeter::onCount(lua_State* state, lua_Debug* /*record*/) {
  ScriptMeter& self = of(state);
  self.spent_ += static_cast<std::uint64_t>(lua_gethookcount(state));
  if (self.end_ == ScriptEnd::kSpent || self.isOver()) {
    self.fail(state, "takes more than " + std::to_string(self.bounds_.instructions) + " instructions", 0);
  }
  if (self.clock_ != nullptr && self.clock_->now() > self.until_) self.fail(state, "runs longer than its timeout", 0);
  if (self.period() != lua_gethookcount(state)) self.watch(state);
}

void ScriptMeter::charge(lua_State* state, std::uint64_t units) {
  spent_ += std::min(units, bounds_.instructions + 1);
  if (end_ != ScriptEnd::kSpent && !isOver()) return;
  fail(state, "takes more than " + std::to_string(bounds_.instructions) + " instructions", 1);
}

void ScriptMeter::lookAtClock(lua_State* state) {
  const bool isLate = clock_ != nullptr && clock_->now() > until_;
  if (end_ == ScriptEnd::kSpent || isLate) fail(state, "runs longer than its timeout", 1);
}

void ScriptMeter::checkTime(lua_State* state) {
  if (end_ == ScriptEnd::kSpent || (++looks_ & 7U) == 0) lookAtClock(state);
}

void ScriptMeter::fail(lua_State* state, std::string_view why, int level) {
  if (end_ != ScriptEnd::kSpent) {
    why_ = scriptPlace(state, level) + std::string(why);
    end_ = ScriptEnd::kSpent;
  }
  // Nothing of the script may run any more, whatever it does to catch this.
  watch(state);
  lua_pushnil(state);
  lua_error(state);
  std::abort();  // lua_error() does not return
}

void ScriptMeter::stop(lua_State* state, ScriptEnd end, std::string_view why) {
  if (end == ScriptEnd::kSpent) fail(state, why, 1);
  end_ = end;
  lua_pushnil(state);
  lua_error(state);
  std::abort();  // lua_error() does not return
}

void ScriptMeter::endByMemory() {
  if (end_ == ScriptEnd::kSpent) return;
  end_ = ScriptEnd::kSpent;
  lacksMemory_ = !isOver();
  why_ = isOver() ? "takes more than " + std::to_string(bounds_.instructions) + " instructions"
                  : "takes more than " + std::to_string(bounds_.memory) + " bytes of memory";
}

std::string scriptPlace(lua_State* state, int level) {
  lua_Debug place;
  for (; level < kDeepestPlace && lua_getstack(state, level, &place) != 0; ++level) {
    if (lua_getinfo(state, "Sl", &place) == 0 || place.currentline <= 0) continue;
    return std::string(place.short_src) + ":" + std::to_string(place.currentline) + ": ";
  }
  return {};
}

void ScriptMeter::close() {
  end_ = ScriptEnd::kSpent;
  spent_ = 0;
  clock_ = nullptr;
}

}  // namespace sluice::filters::lua
