#include "filters/lua/lua_engine.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filters/lua/lua_processor.h"
#include "proxy/pki/digest.h"

namespace sluice::filters {
namespace {

using lua::LuaScript;
using processing::Phase;

constexpr std::string_view kRefused = "UnsupportedExtensionType";

std::string_view memberOf(const content::Value& settings, std::string_view name) {
  const content::Value* const found = settings.find(name);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

std::uint64_t scriptBound(const content::Value& settings, std::string_view name, std::uint64_t otherwise) {
  const std::string_view text = memberOf(settings, name);
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

/// Returns the script of the entry, which all its uses share.
base::Result<std::shared_ptr<const LuaScript>> scriptOf(const processing::Use& use) {
  const content::Value& settings = *use.engine;
  const std::string_view text = memberOf(settings, "script");
  const std::string_view file = memberOf(settings, "source");
  if (text.size() > use.mostScript) {
    return base::Error::config("the script has " + std::to_string(text.size()) + " bytes, and " +
                               std::to_string(use.mostScript) + " are allowed (limits.luaScriptBytes)");
  }
  lua::ScriptBounds bounds;
  bounds.memory = scriptBound(settings, "memory", bounds.memory);
  bounds.instructions = scriptBound(settings, "instructions", bounds.instructions);
  const std::string key = "lua " + std::string(use.type) + " " + std::string(file) + " " +
                          std::to_string(bounds.memory) + " " + std::to_string(bounds.instructions) + " " +
                          pki::toHex(pki::sha256(text));
  base::Result<std::shared_ptr<const LuaScript>> script = base::Error::config("");
  auto known = use.states.get<LuaScript>(key, [&]() -> std::shared_ptr<const LuaScript> {
    script = LuaScript::check(std::string(text), std::string(file), bounds);
    return script ? *script : nullptr;
  });
  if (known != nullptr) return known;
  return script;
}

std::vector<Phase> scriptPhases(const processing::Use& use, const LuaScript& script) {
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < processing::kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if ((use.phases & bitOf(phase)) != 0 && script.has(phase)) phases.push_back(phase);
  }
  return phases;
}

/// Finds a Backend of an entry, which names no group: one of sluice.dev, or else one of Gateway API's.
processing::FoundBackend findBackendOf(const processing::TargetLookup& targets, const content::Value& ref) {
  processing::FoundBackend found = targets.find(ref, false);
  if (found.target != nullptr || found.refusal.reason != "BackendNotFound") return found;
  content::Value other = ref;
  for (content::Member& member : other.members) {
    if (member.key == "group") member.value.text = "gateway.networking.k8s.io";
  }
  processing::FoundBackend second = targets.find(other, false);
  const bool isThere = second.target != nullptr || second.refusal.reason != "BackendNotFound";
  return isThere ? std::move(second) : std::move(found);
}

processing::Made makeLua(const processing::Use& use) {
  const auto refused = [](std::string message) {
    return processing::Made{nullptr, {std::string(kRefused), std::move(message)}};
  };
  if (use.engine == nullptr) return refused("lua is an engine of catalogs");
  auto script = scriptOf(use);
  if (!script) return refused(script.error().detail);
  std::vector<Phase> phases = scriptPhases(use, **script);
  if (phases.empty()) return refused((*script)->file() + ": has no function for a phase in which this use may run");
  lua::ScriptUse own{use.config, std::string(use.type), std::string(use.name), (*script)->nextUse(), {}};
  if (const content::Value* const backends = use.engine->find("backends")) {
    for (const content::Value& ref : backends->items) {
      processing::FoundBackend found = findBackendOf(use.targets, ref);
      if (found.target == nullptr) return {nullptr, std::move(found.refusal)};
      const std::string name(memberOf(ref, "name"));
      own.backends.push_back({name, std::string(memberOf(ref, "namespace")) + "/" + name, std::move(found.target)});
    }
  }
  return {lua::makeLuaProcessor(*std::move(script), std::move(own), std::move(phases)), {}};
}

}  // namespace

processing::BuiltinType luaEngine() {
  return {.phases = {Phase::kRequestHeaders, Phase::kRequestBody, Phase::kConnect, Phase::kBackendRequest,
                     Phase::kBackendResponse, Phase::kResponseHeaders, Phase::kResponseBody},
          .preAuth = true,
          .make = makeLua,
          .spans = true,
          .engine = "lua"};
}

}  // namespace sluice::filters
