// Loads any text as a script in Lua, and runs its functions on a request and a response. The text ends at the first
// NUL, behind which the body is. A script that is refused has a reason, one that runs stays within its bounds and
// leaves heads as RFC 9110 has them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "test/fuzz/fuzzers.h"
#include "test/fuzz/script_course.h"

int sluice::test::fuzzLua(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  const std::string_view body = input.substr(std::min(text.size() + 1, input.size()));
  const auto script = filters::lua::LuaScript::check(std::string(text), "fuzz.lua", ScriptCourse::kBounds);
  if (!script) {
    const std::string& why = script.error().detail;
    require(!why.empty() && why.size() < 1024, "a refusal has a reason");
    return 0;
  }
  ScriptCourse(*script).run(body.substr(0, ScriptCourse::kMostBody));
  return 0;
}
