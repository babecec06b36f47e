// Reads and edits a body by a pointer, as scripts in Lua do. The first line of the input is the pointer, the rest the
// body. What goes on is JSON if the body was, and the body itself if it was not.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/content/json_locate.h"
#include "test/fuzz/fuzzers.h"
#include "test/fuzz/script_course.h"

namespace {

constexpr std::string_view kEdit = R"lua(
  function request_body(m)
    local document = m.body:json()
    if not document then return end
    local pointer = m.headers:get("x-pointer")
    local ok, value = pcall(document.get, document, pointer)
    if not ok then return end
    if value ~= nil then pcall(document.set, document, pointer, value) end
    pcall(document.set, document, pointer, {1, "two", {three = false}})
    pcall(document.remove, document, pointer)
    if not m.body:json() then error("the document is none any more") end
  end)lua";

bool isJson(std::string_view text) {
  const std::array<sluice::content::JsonPath, 1> whole{};
  std::array<std::string_view, 1> found;
  return sluice::content::locateJson(text, whole, found);
}

}  // namespace

int sluice::test::fuzzLuaDocument(const std::uint8_t* data, std::size_t size) {
  static const auto kScript = filters::lua::LuaScript::check(std::string(kEdit), "edit.lua", ScriptCourse::kBounds);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view pointer = input.substr(0, input.find('\n'));
  const std::string_view body = input.substr(std::min(pointer.size() + 1, input.size())).substr(0, 4096);
  require(static_cast<bool>(kScript), "the script of the fuzzer loads");
  if (!http::isFieldValue(pointer)) return 0;
  ScriptCourse course(*kScript);
  course.field("x-pointer", pointer);
  const std::string passed = course.run(body);
  require(course.isRefused() || (isJson(body) ? isJson(passed) : passed == body), "JSON stays JSON, all else as it is");
  return 0;
}
