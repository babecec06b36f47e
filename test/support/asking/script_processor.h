// A processor that needs a file, as an engine needs a script or a library, to test how processors load apart from one
// another.
//
// It puts the content of the file into x-script. As long as there is no file, or the file contains "wait", it is
// awaited; a file that contains "wrong" is refused.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "proxy/processing/factory.h"
#include "proxy/processing/processor.h"

namespace sluice::test {

class ScriptProcessor final : public processing::PreAuthProcessor {
 public:
  explicit ScriptProcessor(std::string script) : script_(std::move(script)) {}
  processing::Verdict process(processing::Call& call) const override {
    call.edit.set("x-script", call.arena.copy(script_));
    return processing::Verdict::goOn();
  }

 private:
  const std::string script_;
};

/// Awaits another file in the place of the one that was there, if any.
class AwaitedFile final : public processing::Awaited {
 public:
  explicit AwaitedFile(std::string path) : path_(std::move(path)), seen_(inode()) {}
  bool mayHaveCome() const override { return inode() != seen_; }

 private:
  ino_t inode() const {
    struct stat found {};
    return ::stat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
  }

  const std::string path_;
  const ino_t seen_;
};

inline processing::Made makeScript(const processing::Use& use) {
  const std::string path = use.config.find("file")->text;
  auto awaited = std::make_shared<const AwaitedFile>(path);
  std::ifstream in(path);
  const std::string script{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open()) return {nullptr, {"", "the script " + path + " is missing"}, std::move(awaited)};
  if (script == "wait") return {nullptr, {"", "the script is being loaded"}, std::move(awaited), true};
  if (script == "wrong") return {nullptr, {"InvalidScript", "the script is wrong"}};
  return {std::make_shared<const ScriptProcessor>(script)};
}

inline constexpr std::string_view kScriptSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {"file": {"type": "string"}},
  "required": ["file"]
})";

/// Returns acme.test/Script:v1.
inline processing::BuiltinType scriptType() {
  return {"acme.test/Script:v1", {processing::Phase::kRequestHeaders}, true, kScriptSchema, makeScript};
}

}  // namespace sluice::test
