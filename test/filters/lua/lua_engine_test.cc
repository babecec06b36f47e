// Tests that the entry of a catalog becomes a processor, and the errors if it cannot.
#include "filters/lua/lua_engine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice::test {
namespace {

using processing::Phase;

/// Knows one Backend, of Gateway API's group.
class LuaTargets final : public processing::TargetLookup, public processing::SecretLookup {
 public:
  processing::FoundBackend find(const content::Value& ref, bool /*http2*/) const override {
    const std::string name = ref.find("namespace")->text + "/" + ref.find("name")->text;
    if (name == "other/closed") return {nullptr, {"RefNotPermitted", "no ReferenceGrant permits it"}};
    if (name != "test/judge" || ref.find("group")->text != "gateway.networking.k8s.io") {
      return {nullptr, {"BackendNotFound", "there is no " + ref.find("group")->text + "/" + name}};
    }
    return {std::make_shared<const processing::CalloutTarget>(), {}};
  }
  processing::FoundSecret find(std::string_view, std::string_view, std::string_view) const override { return {}; }
};

content::Value textOf(const std::string& text) {
  content::Value value;
  value.kind = content::Value::Kind::kString;
  value.text = text;
  return value;
}

content::Value mapOf(const std::vector<std::pair<std::string, content::Value>>& members) {
  content::Value value;
  value.kind = content::Value::Kind::kMap;
  for (const auto& [key, member] : members) value.members.push_back({key, {}, member});
  return value;
}

class LuaEngine : public ::testing::Test {
 protected:
  /// Makes a use of an entry with this script; returns "" if that is possible, else the refusal.
  std::string make(const std::string& script, std::uint8_t phases, const std::string& nameSpace = {},
                   const std::string& backend = {}) {
    content::Value backends;
    backends.kind = content::Value::Kind::kList;
    if (!backend.empty()) {
      backends.items.push_back(
          mapOf({{"group", textOf("sluice.dev")}, {"name", textOf(backend)}, {"namespace", textOf(nameSpace)}}));
    }
    const content::Value engine = mapOf({{"script", textOf(script)},
                                         {"source", textOf("own.lua")},
                                         {"memory", textOf("1048576")},
                                         {"instructions", textOf("1000")},
                                         {"backends", backends}});
    const content::Value config = mapOf({});
    processing::Use use{.owner = "Backend demo/api",
                        .name = "use",
                        .phases = phases,
                        .config = config,
                        .secrets = targets_,
                        .targets = targets_,
                        .states = states_,
                        .engine = &engine,
                        .mostScript = most_,
                        .type = "acme.test/Script:v1"};
    made_ = filters::luaEngine().make(use);
    return made_.processor != nullptr ? "" : made_.refusal.reason + ": " + made_.refusal.message;
  }

  LuaTargets targets_;
  processing::SharedStates states_;
  processing::Made made_;
  std::uint64_t most_ = std::uint64_t{256} * 1024;
};

constexpr std::uint8_t kHeads = bitOf(Phase::kRequestHeaders) | bitOf(Phase::kResponseHeaders);

TEST_F(LuaEngine, RunsInThePhasesForWhichThereAreFunctions) {
  ASSERT_EQ(make("function response_headers(m) end function request_body(m) end", kHeads), "");
  ASSERT_EQ(made_.processor->phases().size(), 1U);
  EXPECT_EQ(made_.processor->phases()[0], Phase::kResponseHeaders);
  EXPECT_EQ(make("function request_body(m) end", kHeads),
            "UnsupportedExtensionType: own.lua: has no function for a phase in which this use may run");
}

TEST_F(LuaEngine, RefusesScriptsThatCannotBeLoaded) {
  EXPECT_EQ(make("x = = 1", kHeads), "UnsupportedExtensionType: own.lua:1: unexpected symbol near '='");
  EXPECT_EQ(make("\n\nlocal x = nil + 1", kHeads),
            "UnsupportedExtensionType: own.lua:3: attempt to perform arithmetic on a nil value");
  EXPECT_EQ(make("while true do end", kHeads),
            "UnsupportedExtensionType: own.lua:1: takes more than 1000 instructions");
}

TEST_F(LuaEngine, RefusesScriptsBeyondTheLimit) {
  const std::string script = "function request_headers(m) end";
  most_ = script.size();
  EXPECT_EQ(make(script, kHeads), "");
  EXPECT_EQ(make(script + " ", kHeads),
            "UnsupportedExtensionType: the script has 32 bytes, and 31 are allowed (limits.luaScriptBytes)");
}

TEST_F(LuaEngine, FindsBackendsOfEitherGroupThatItMayReferTo) {
  const std::string script = "function request_headers(m) end";
  EXPECT_EQ(make(script, kHeads, "test", "judge"), "");
  EXPECT_EQ(made_.processor->targets().size(), 1U);
  EXPECT_EQ(make(script, kHeads, "other", "closed"), "RefNotPermitted: no ReferenceGrant permits it");
  EXPECT_EQ(make(script, kHeads, "test", "nobody"), "BackendNotFound: there is no sluice.dev/test/nobody");
}

}  // namespace
}  // namespace sluice::test
