#include "filters/lua/body_object.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "filters/body_path.h"
#include "filters/lua/lua_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "filters/lua/value_conversion.h"
#include "proxy/content/json_edit.h"
#include "proxy/content/json_locate.h"
#include "proxy/content/json_pointer.h"

namespace sluice::filters::lua {
namespace {

constexpr char kBodyKey = 0;
constexpr char kDocumentKey = 0;

/// Returns the call, if the whole body is there.
ScriptCall& wholeBody(lua_State* state) {
  ScriptCall& script = runningCall(state);
  if (script.call().body == nullptr) luaL_error(state, "there is no body");
  if (script.bodyUse == BodyUse::kStreamed) {
    luaL_error(state, "the whole body is there only in a phase whose functions do not name chunk");
  }
  return script;
}

/// The bytes as the script has left them, in one piece: a view, or a copy if they were in several.
class BodyText {
 public:
  explicit BodyText(const ScriptCall& script) {
    if (script.replacement) {
      text_ = *script.replacement;
      return;
    }
    const base::ByteQueue& bytes = script.call().body->bytes();
    text_ = bytes.empty() ? std::string_view() : bytes.front();
    if (text_.size() == bytes.size()) return;
    copied_.reserve(bytes.size());
    bytes.forEachRun([this](std::string_view run) { copied_ += run; });
    text_ = copied_;
  }
  std::string_view text() const { return text_; }

 private:
  std::string copied_;
  std::string_view text_;
};

int bodyText(lua_State* state) {
  const BodyText body(wholeBody(state));
  pushText(state, body.text());
  return 1;
}

/// Puts a text in the place of the bytes that the script has seen last.
void replaceBytes(lua_State* state, ScriptCall& script, std::string text) {
  if (!script.call().body->claim(text.size())) {
    contextOf(state).meter.stop(state, ScriptEnd::kSpent, "the gateway has no room for the body");
  }
  script.replacement = std::move(text);
}

int replaceBody(lua_State* state) {
  const std::string_view text = textArgument(state, 2);
  ScriptCall& script = runningCall(state);
  if (script.call().body == nullptr) return luaL_error(state, "there is no body");
  if (!script.mayReplace()) return luaL_error(state, "no piece of the body has been read");
  contextOf(state).meter.chargeBytes(state, text.size());
  replaceBytes(state, script, std::string(text));
  return 0;
}

/// Pushes the piece that has come, and whether it is the last.
int givePiece(lua_State* state, int /*status*/, lua_KContext /*context*/) {
  ScriptCall& script = runningCall(state);
  const processing::Body& body = *script.call().body;
  script.takePiece(body.last());
  const BodyText piece(script);
  pushText(state, piece.text());
  lua_pushboolean(state, body.last() ? 1 : 0);
  return 2;
}

int nextPiece(lua_State* state) {
  ScriptCall& script = runningCall(state);
  if (script.call().body == nullptr) return luaL_error(state, "there is no body");
  if (script.hasReadAll()) {
    lua_pushnil(state);
    return 1;
  }
  if (script.bodyUse == BodyUse::kWhole || script.hasPiece()) return givePiece(state, LUA_OK, 0);
  script.awaitsPiece = true;
  return lua_yieldk(state, 0, 0, givePiece);
}

int bodyDocument(lua_State* state) {
  ScriptCall& script = wholeBody(state);
  const BodyText body(script);
  contextOf(state).meter.chargeBytes(state, body.text().size());
  static const std::array<content::JsonPath, 1> kWhole{};
  std::array<std::string_view, 1> found;
  if (!content::locateJson(body.text(), kWhole, found)) {
    lua_pushnil(state);
    lua_pushliteral(state, "the body is not JSON");
    return 2;
  }
  lua_rawgetp(state, LUA_REGISTRYINDEX, &kDocumentKey);
  return 1;
}

int getOfDocument(lua_State* state) {
  ScriptCall& script = wholeBody(state);
  const auto path = BodyPath::fromPointer(textArgument(state, 2));
  if (!path) {
    pushText(state, path.error().detail);
    return luaL_argerror(state, 2, lua_tostring(state, -1));
  }
  const BodyText body(script);
  contextOf(state).meter.chargeBytes(state, body.text().size());
  const auto steps = path->steps();
  const std::array<content::JsonPath, 1> paths{content::JsonPath(steps.begin(), steps.end())};
  std::array<std::string_view, 1> found;
  if (!content::locateJson(body.text(), paths, found) || found[0].empty()) {
    lua_pushnil(state);
    return 1;
  }
  pushJson(state, found[0]);
  return 1;
}

int edit(lua_State* state, std::optional<content::Value> value) {
  ScriptCall& script = wholeBody(state);
  auto pointer = content::JsonPointer::parse(textArgument(state, 2));
  std::string fault;
  if (!pointer) {
    fault = pointer.error().detail;
  } else {
    const BodyText body(script);
    contextOf(state).meter.charge(state, body.text().size() / 4);
    const std::array<content::JsonEdit, 1> edits{content::JsonEdit{*std::move(pointer), std::move(value)}};
    auto edited = content::editJson(body.text(), edits);
    if (edited) {
      replaceBytes(state, script, *std::move(edited));
      return 0;
    }
    fault = edited.error().detail;
  }
  pushText(state, fault);
  return luaL_error(state, "%s", lua_tostring(state, -1));
}

int setInDocument(lua_State* state) {
  luaL_checkany(state, 3);
  return edit(state, takeValue(state, 3));
}

int removeFromDocument(lua_State* state) { return edit(state, std::nullopt); }

}  // namespace

void makeBodyObjects(lua_State* state) {
  static constexpr luaL_Reg kBody[] = {
      {"text", bodyText}, {"chunk", nextPiece}, {"replace", replaceBody}, {"json", bodyDocument}, {nullptr, nullptr}};
  static constexpr luaL_Reg kDocument[] = {
      {"get", getOfDocument}, {"set", setInDocument}, {"remove", removeFromDocument}, {nullptr, nullptr}};
  pushObject(state, "m.body", kBody);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kBodyKey);
  pushObject(state, "document", kDocument);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kDocumentKey);
}

void pushBody(lua_State* state) {
  if (runningCall(state).call().body != nullptr) {
    lua_rawgetp(state, LUA_REGISTRYINDEX, &kBodyKey);
  } else {
    lua_pushnil(state);
  }
}

}  // namespace sluice::filters::lua
