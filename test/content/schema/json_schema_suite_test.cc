// Runs the cases of JSON-Schema-Test-Suite that each implementation of JSON Schema 2020-12 must pass. install.sh
// unpacks them from a package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::content {
namespace {

/// The groups whose schemas refer to documents that the suite expects to be loaded. This test loads none.
const std::set<std::string> kNeedOtherDocuments = {
    "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
    "dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
    "dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor",
    "dynamicRef.json: strict-tree schema, guards against misspelled properties",
    "dynamicRef.json: tests for implementation dynamic anchor and reference link",
    "refRemote.json: $ref to $ref finds detached $anchor",
    "refRemote.json: Location-independent identifier in remote ref",
    "refRemote.json: anchor within remote ref",
    "refRemote.json: base URI change",
    "refRemote.json: base URI change - change folder",
    "refRemote.json: base URI change - change folder in subschema",
    "refRemote.json: fragment within remote ref",
    "refRemote.json: ref within remote ref",
    "refRemote.json: remote HTTP ref with different $id",
    "refRemote.json: remote HTTP ref with different URN $id",
    "refRemote.json: remote HTTP ref with nested absolute ref",
    "refRemote.json: remote ref",
    "refRemote.json: remote ref with ref to defs",
    "refRemote.json: retrieved nested refs resolve relative to their URI not $id",
    "refRemote.json: root ref in remote ref",
    "vocabulary.json: ignore unrecognized optional vocabulary",
    "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
};

struct SuiteOutcome {
  std::size_t right = 0;
  std::size_t withoutSchema = 0;  // cases whose schema was refused
  std::set<std::string> refusedGroups;
  std::vector<std::string> wrong;
};

void runGroup(const std::string& file, const Value& group, SuiteOutcome& outcome) {
  const std::string name = file + ": " + group.find("description")->text;
  const auto schema = JsonSchema::compile(*group.find("schema"));
  if (!schema) outcome.refusedGroups.insert(name);
  for (const Value& test : group.find("tests")->items) {
    if (!schema) {
      ++outcome.withoutSchema;
    } else if (schema->check(*test.find("data")).empty() == (test.find("valid")->text == "true")) {
      ++outcome.right;
    } else {
      outcome.wrong.push_back(name + ": " + test.find("description")->text);
    }
  }
}

TEST(JsonSchemaSuite, IsPassedExceptWhereDocumentsWouldHaveToBeLoaded) {
  const std::filesystem::path folder = SLUICE_SCHEMA_SUITE;
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder << " is missing: test/support/install.sh test";
  SuiteOutcome outcome;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const auto groups = parseJson(text.str());
    ASSERT_TRUE(groups) << entry.path();
    for (const Value& group : groups->items) runGroup(entry.path().filename(), group, outcome);
  }
  EXPECT_THAT(outcome.wrong, ::testing::IsEmpty());
  EXPECT_EQ(outcome.refusedGroups, kNeedOtherDocuments);
  EXPECT_EQ(outcome.withoutSchema, 49u);
  EXPECT_GE(outcome.right, 1208u);
}

}  // namespace
}  // namespace sluice::content
