#include "filters/lua/digest_library.h"

#include <chrono>
#include <string>

#include "filters/lua/lua_object.h"
#include "filters/lua/script_call.h"
#include "filters/lua/script_context.h"
#include "proxy/base/base64.h"
#include "proxy/base/secret.h"
#include "proxy/pki/digest.h"

namespace sluice::filters::lua {
namespace {

/// Returns the text, and charges for a pass over it.
std::string_view countedText(lua_State* state, int index) {
  const std::string_view text = textArgument(state, index);
  contextOf(state).meter.chargeBytes(state, text.size());
  return text;
}

int digestText(lua_State* state) {
  pushText(state, pki::toHex(pki::sha256(countedText(state, 1))));
  return 1;
}

int keyedDigest(lua_State* state) {
  const base::Secret key{std::string(countedText(state, 1))};
  pushText(state, pki::toHex(pki::hmacSha256(key, countedText(state, 2))));
  return 1;
}

int encodeText(lua_State* state) {
  pushText(state, base::encodeBase64(countedText(state, 1)));
  return 1;
}

int decodeText(lua_State* state) {
  const auto decoded = base::decodeBase64(countedText(state, 1));
  if (decoded) {
    pushText(state, *decoded);
  } else {
    lua_pushnil(state);
  }
  return 1;
}

int timeNow(lua_State* state) {
  const std::chrono::duration<double> now = runningCall(state).call().clock.wallNow().time_since_epoch();
  lua_pushnumber(state, now.count());
  return 1;
}

}  // namespace

void openDigests(lua_State* state) {
  static constexpr luaL_Reg kBase64[] = {{"encode", encodeText}, {"decode", decodeText}, {nullptr, nullptr}};
  addLibrary(state, "base64", kBase64);
  lua_register(state, "sha256", digestText);
  lua_register(state, "hmac_sha256", keyedDigest);
  lua_register(state, "time", timeNow);
}

}  // namespace sluice::filters::lua
