#include "filters/lua/lua_script.h"

#include <utility>

namespace sluice::filters::lua {

base::Result<std::shared_ptr<const LuaScript>> LuaScript::check(std::string text, std::string file,
                                                                const ScriptBounds& bounds) {
  LuaInterpreter trial(bounds);
  auto functions = trial.load(text, file);
  if (!functions) return std::move(functions).error();
  return std::make_shared<const LuaScript>(std::move(text), std::move(file), bounds, *functions);
}

LuaInterpreter* WorkerScript::interpreter(const LuaScript& script) {
  if (interpreter_ != nullptr && (!hasFailed_ || interpreter_->isBusy())) return interpreter_.get();
  hasFailed_ = false;
  interpreter_ = std::make_unique<LuaInterpreter>(script.bounds());
  auto loaded = interpreter_->load(script.text(), script.file());
  if (loaded) return interpreter_.get();
  fault_ = loaded.error().detail;
  interpreter_.reset();
  return nullptr;
}

}  // namespace sluice::filters::lua
