// A rig whose processor is a script.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "filters/lua/ground/script_meter.h"
#include "filters/lua/lua_engine.h"
#include "test/filters/filter_rig.h"

namespace sluice::test {

class LuaRig final : public FilterRig {
 public:
  LuaRig() : FilterRig(filters::luaEngine()) {
    typeOfCatalog = "acme.test/Script:v1";
    phases = 0x7f;  // all of them
  }

  filters::lua::ScriptBounds bounds;
  std::string config = "{}";    // YAML, as are
  std::string backends = "[]";  // those of the catalog's entry
  http::Trailers trailers{pool};

  /// Loads the script; returns "" if that is possible, else the reason why not.
  std::string load(const std::string& text) {
    engine_ = read("{source: processor.lua, memory: " + std::to_string(bounds.memory) +
                   ", instructions: " + std::to_string(bounds.instructions) + ", backends: " + backends + "}");
    content::Member script;
    script.key = "script";
    script.value.kind = content::Value::Kind::kString;
    script.value.text = text;
    engine_.members.push_back(std::move(script));
    static const std::string kRefused = "UnsupportedExtensionType: ";
    const std::string refusal = make(config);
    return refusal.starts_with(kRefused) ? refusal.substr(kRefused.size()) : refusal;
  }

  /// Asks the processor, about the bytes `body` if they are given. Returns its verdict as a text, with the reason of a
  /// failure or the status of a reply.
  std::string run(processing::Phase at = processing::Phase::kRequestHeaders, std::optional<std::string> body = {},
                  bool last = true) {
    base::ByteQueue bytes(pool);
    if (body) bytes.append(*body);
    processing::Body given(bytes, last);
    if (last) given.setTrailers(&trailers);
    passed.reset();
    const processing::Verdict verdict = FilterRig::run(at, body ? &given : nullptr);
    if (body) passed = given.isChanged() ? given.takeChanged().text() : *body;
    switch (verdict.kind()) {
      case processing::Verdict::Kind::kContinue:
        return "continue";
      case processing::Verdict::Kind::kWait:
        return "wait";
      case processing::Verdict::Kind::kReply:
        reply = verdict.reply();
        return "reply " + std::to_string(reply->error.status);
      default:
        return std::string(processing::causeName(verdict.cause())) + ": " + std::string(verdict.reason());
    }
  }
  /// Runs a whole step.
  std::string once(processing::Phase at = processing::Phase::kRequestHeaders, std::optional<std::string> body = {}) {
    end();
    return run(at, std::move(body));
  }

  std::optional<std::string> passed;  // the bytes that go on after the last run()
  std::optional<processing::Reply> reply;
};

}  // namespace sluice::test
