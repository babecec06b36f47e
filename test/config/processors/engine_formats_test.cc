#include "config/catalog/engine_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/content/json.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// An entry of the ConfigMap ops/types that was read from the lines of its settings, and the problems in it.
struct ReadSettings {
  std::optional<CatalogEntry> entry;
  std::vector<std::string> problems;

  std::string text() const { return entry ? content::writeJson(*entry->engineConfig) : "none"; }
};

ReadSettings engineSettings(const std::string& engine, const std::string& lines) {
  const Configuration loaded = loadText(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: types, namespace: ops}\ndata:\n"
      "  e.yaml: |\n    {type: 'acme.test/Pii:v1', engine: " +
      engine + ", phases: [connect], schemaRef: {name: s},\n    " + lines + "}\n");
  EXPECT_THAT(rendered(loaded.problems), IsEmpty());
  const ConfigMap* map = loaded.model.find<ConfigMap>("ops", "types");
  std::string type;
  Problems problems;
  ReadSettings read{readCatalogEntry(map->data.at("e.yaml"), *map, "e.yaml", {}, type, problems), {}};
  read.problems = rendered(problems);
  EXPECT_EQ(type, "acme.test/Pii:v1") << "its uses are closed although the entry is wrong";
  return read;
}

/// Returns the problems with the place and the field of each.
std::vector<std::string> problemsOf(const std::string& engine, const std::string& lines) {
  return engineSettings(engine, lines).problems;
}

std::string at(int column, const std::string& message) {
  return "config.yaml:7:" + std::to_string(column) + ": error: ConfigMap ops/types: e.yaml: " + message;
}

TEST(EngineFormats, HaveUniqueNamesAndKeys) {
  std::vector<std::string_view> names;
  for (const EngineFormat& each : engineFormats()) {
    names.push_back(each.name);
    EXPECT_EQ(&engineFormat(each.name), &each);
  }
  EXPECT_THAT(names, ElementsAre("builtin", "lua", "library", "ext-proc"));
}

TEST(EngineFormats, LuaHasAScriptAndDefaults) {
  const ReadSettings read = engineSettings("lua", "lua: {script: 'return 1'}");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.text(), R"({"script":"return 1","source":"processor.lua","memory":8388608,"instructions":1000000,)"
                         R"("backends":[]})");
  EXPECT_FALSE(read.entry->scriptRef);
}

TEST(EngineFormats, LuaMayHaveItsScriptElsewhereAndNameBackends) {
  const ReadSettings read =
      engineSettings("lua",
                     "lua: {scriptRef: {name: scripts, namespace: far, key: guard.lua}, memory: 64Ki, "
                     "instructions: 1000, backends: [{name: a}, {name: b, namespace: far}]}");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.text(), R"({"source":"guard.lua","memory":65536,"instructions":1000,"backends":[)"
                         R"({"group":"sluice.dev","kind":"Backend","name":"a","namespace":"ops"},)"
                         R"({"group":"sluice.dev","kind":"Backend","name":"b","namespace":"far"}]})");
  EXPECT_EQ(read.entry->scriptRef->nameSpace, "far");
  EXPECT_EQ(read.entry->scriptRef->name, "scripts");
  EXPECT_EQ(read.entry->scriptRef->key, "guard.lua");
  const ReadSettings near = engineSettings("lua", "lua: {scriptRef: {name: scripts}}");
  EXPECT_EQ(near.entry->scriptRef->nameSpace, "ops");
  EXPECT_EQ(near.entry->scriptRef->key, "processor.lua");
}

TEST(EngineFormats, LuaIsReadStrictly) {
  EXPECT_THAT(problemsOf("lua", "lua: {}"), ElementsAre(at(10, "lua: must have script or scriptRef")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: x, scriptRef: {name: a}}"),
              ElementsAre(at(10, "lua: must have script or scriptRef, and not both")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: 1}"),
              ElementsAre(at(19, "lua.script: must be a string, but is a number: put it in quotes")));
  EXPECT_THAT(problemsOf("lua", "lua: {scriptRef: {key: k}}"), ElementsAre(at(22, "lua.scriptRef.name: is required")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: x, memory: 1Ki}"),
              ElementsAre(at(30, "lua.memory: must be between 65536 and 1073741824, but is 1Ki")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: x, instructions: 999}"),
              ElementsAre(at(36, "lua.instructions: must be between 1000 and 1000000000, but is 999")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: x, backends: [{kind: Service}]}"),
              ElementsAre(at(33, "lua.backends[0].name: is required"), at(34, "lua.backends[0].kind: unknown field")));
  EXPECT_THAT(problemsOf("lua", "lua: {script: x, limit: 1}"), ElementsAre(at(22, "lua.limit: unknown field")));
}

TEST(EngineFormats, LibraryHasAPlainFile) {
  const ReadSettings read = engineSettings("library", "library: {file: libpii-1.2_x+y.so}");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.text(), R"({"file":"libpii-1.2_x+y.so"})");
  EXPECT_THAT(problemsOf("library", "library: {}"), ElementsAre(at(14, "library.file: is required")));
  for (const std::string file : {"../a.so", "/lib/a.so", "a/b.so", "..", ".", ".hidden.so", "a b.so", "a\\\\b.so"}) {
    EXPECT_THAT(problemsOf("library", "library: {file: \"" + file + "\"}"),
                ElementsAre(testing::HasSubstr("library.file: must be the name of a file without a path, like ")))
        << file;
  }
  EXPECT_THAT(problemsOf("library", "library: {file: " + std::string(256, 'a') + "}"),
              ElementsAre(testing::HasSubstr("library.file: is longer than 255 bytes")));
  EXPECT_THAT(engineSettings("library", "library: {file: " + std::string(255, 'a') + "}").problems, IsEmpty());
}

TEST(EngineFormats, ThatHaveAReaderAreRequired) {
  EXPECT_THAT(problemsOf("lua", "extProc: {}"),
              ElementsAre(testing::HasSubstr("e.yaml: lua: is required"), at(5, "extProc: unknown field")));
  EXPECT_THAT(problemsOf("library", "library: x"),
              ElementsAre(testing::HasSubstr("library: must be a map, but is a string")));
}

TEST(EngineFormats, WithoutAReaderAreKeptAsTheyWereWritten) {
  const ReadSettings read = engineSettings("ext-proc", "extProc: {anything: [1, x]}");
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.text(), R"({"anything":[1,"x"]})");
}

}  // namespace
}  // namespace sluice::config
