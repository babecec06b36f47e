// A script as an entry of a catalog has it, checked.
//
// Uses of one entry share one, and it survives reloads that leave it as it is. Immutable; any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "filters/lua/interpreter.h"
#include "proxy/base/result.h"
#include "proxy/processing/worker_states.h"

namespace sluice::filters::lua {

class LuaScript {
 public:
  /// Loads the script once, to see whether it can be loaded. `file` is its name in messages: "processor.lua". An error
  /// has config's origin, and file and line where they are known.
  static base::Result<std::shared_ptr<const LuaScript>> check(std::string text, std::string file,
                                                              const ScriptBounds& bounds);
  LuaScript(std::string text, std::string file, const ScriptBounds& bounds, const ScriptFunctions& functions)
      : text_(std::move(text)), file_(std::move(file)), bounds_(bounds), functions_(functions) {}

  bool has(processing::Phase phase) const { return functions_.has[static_cast<std::size_t>(phase)]; }
  BodyUse bodyUse(processing::Phase phase) const { return functions_.body[static_cast<std::size_t>(phase)]; }
  /// Returns a number for another use, which no other use of this script has had.
  std::uint64_t nextUse() const { return uses_.fetch_add(1, std::memory_order_relaxed) + 1; }
  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }
  const ScriptBounds& bounds() const { return bounds_; }

 private:
  const std::string text_;
  const std::string file_;
  const ScriptBounds bounds_;
  const ScriptFunctions functions_;
  mutable std::atomic<std::uint64_t> uses_{0};
};

/// The interpreter that a worker keeps for a script.
class WorkerScript {
 public:
  /// Returns it, made anew if it has failed and no call waits in it; nullptr if the script cannot be loaded.
  LuaInterpreter* interpreter(const LuaScript& script);
  void onFailure() { hasFailed_ = true; }
  const std::string& fault() const { return fault_; }

 private:
  std::unique_ptr<LuaInterpreter> interpreter_;
  bool hasFailed_ = false;
  std::string fault_;
};

}  // namespace sluice::filters::lua
