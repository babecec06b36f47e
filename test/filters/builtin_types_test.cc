#include "filters/types/builtin_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/config_references.h"
#include "config/catalog/engine_formats.h"
#include "config/yaml/yaml_reader.h"
#include "filters/expression/vocabulary.h"
#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"
#include "test/support/reference_page.h"

namespace sluice::filters {
namespace {

using testing::UnorderedElementsAreArray;

std::string typesPage() { return test::referencePage("processor-types.md"); }

/// Collects the members that a schema allows, with those of maps in them ("secretRef.name"), and their defaults as JSON
/// has them; "" if the schema has none.
void collectFields(const content::Value& schema, const std::string& prefix, std::map<std::string, std::string>& found) {
  const content::Value* properties = schema.find("properties");
  if (properties == nullptr) return;
  for (const content::Member& member : properties->members) {
    const content::Value* otherwise = member.value.find("default");
    found[prefix + member.key] = otherwise != nullptr ? otherwise->text : "";
    collectFields(member.value, prefix + member.key + ".", found);
  }
}

/// Calls visit(map) with every map in the value that has a `type` and a `name`.
template <typename Visit>
void eachUse(const content::Value& value, Visit&& visit) {
  if (value.find("type") != nullptr && value.find("name") != nullptr) visit(value);
  for (const content::Value& item : value.items) eachUse(item, visit);
  for (const content::Member& member : value.members) eachUse(member.value, visit);
}

/// Returns the types without the rows that are engines alone.
std::vector<processing::BuiltinType> namedTypes() {
  processing::BuiltinTypes types = builtinTypes();
  std::erase_if(types, [](const processing::BuiltinType& each) { return each.type.empty(); });
  return types;
}

TEST(BuiltinTypes, AreInTheReferenceWithTheirPhases) {
  const auto rows = test::pageTable(typesPage(), "| type | phases | preAuth | what it does |");
  std::vector<std::string> names;
  for (const processing::BuiltinType& type : namedTypes()) {
    names.emplace_back(type.type);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const test::PageRow& each) {
      return test::quotedWords(each[0]) == std::vector<std::string>{names.back()};
    });
    ASSERT_NE(row, rows.end()) << type.type;
    std::vector<std::string> phases;
    for (const processing::Phase phase : type.phases) phases.emplace_back(processing::phaseName(phase));
    EXPECT_EQ(test::quotedWords((*row)[1]), phases) << type.type;
    EXPECT_EQ((*row)[2], type.preAuth ? "yes" : "no") << type.type;
  }
  EXPECT_THAT(test::firstWords(rows), UnorderedElementsAreArray(names));
}

TEST(BuiltinTypes, HaveTheirConfigInTheReferenceWithItsDefaults) {
  for (const processing::BuiltinType& type : namedTypes()) {
    const auto schema = content::parseJson(type.schema);
    ASSERT_TRUE(schema.ok()) << type.type;
    std::map<std::string, std::string> fields;
    collectFields(*schema, "", fields);
    const std::string section = test::pageSection(typesPage(), "### `" + std::string(type.type) + "`");
    const auto rows = test::pageTable(section, "| field | default | meaning |");
    std::vector<std::string> names;
    for (const auto& field : fields) names.push_back(field.first);
    EXPECT_THAT(test::firstWords(rows), UnorderedElementsAreArray(names)) << type.type;
    for (const test::PageRow& row : rows) {
      ASSERT_EQ(row.size(), 3u) << row[0];
      EXPECT_FALSE(row[2].empty()) << row[0];
      const std::string& otherwise = fields[test::quotedWords(row[0]).at(0)];
      EXPECT_EQ(row[1], otherwise.empty() ? row[1] : otherwise) << type.type << " " << row[0];
    }
  }
}

TEST(BuiltinTypes, HaveTheLanguageOfExpressionsInTheReference) {
  std::vector<std::string> shown;
  for (const FormRow& row : expressionForms()) shown.emplace_back(row.shown);
  for (const AttributeRow& row : expressionAttributes()) shown.emplace_back(row.name);
  for (const FunctionRow& row : expressionFunctions()) shown.emplace_back(row.shown);
  std::vector<std::string> listed;
  for (const test::PageRow& row : test::pageTable(typesPage(), "| expression | meaning |")) {
    std::string& words = listed.emplace_back(test::quotedWords(row[0]).at(0));
    words.erase(std::remove(words.begin(), words.end(), '\\'), words.end());  // in front of a bar
  }
  EXPECT_THAT(listed, UnorderedElementsAreArray(shown));
}

TEST(BuiltinTypes, AcceptTheUsesInTheReference) {
  std::size_t uses = 0;
  for (const std::string& block : test::yamlBlocks(test::referencePage("processors.md") + typesPage())) {
    config::Problems problems;
    const auto check = [&](const content::Value& use) {
      for (const processing::BuiltinType& type : namedTypes()) {
        if (use.find("type")->text != type.type) continue;
        ++uses;
        content::Value config;
        config.kind = content::Value::Kind::kMap;
        if (const content::Value* given = use.find("config")) config = *given;
        EXPECT_EQ(content::describe(content::JsonSchema::compile(type.schema)->apply(config)), "") << block;
        const content::Value* phase = use.find("phase");
        const bool fits = std::any_of(type.phases.begin(), type.phases.end(), [&](processing::Phase each) {
          return phase == nullptr ? type.spans || type.phases.size() == 1 : phase->text == processing::phaseName(each);
        });
        EXPECT_TRUE(fits) << block;
      }
    };
    config::forEachDocument(block, {}, problems, [&](const content::Value& root) { eachUse(root, check); });
    EXPECT_TRUE(problems.empty()) << block;
  }
  EXPECT_GE(uses, 4u);
}

TEST(BuiltinTypes, HaveUniqueNamesPhasesAndSchemas) {
  std::set<std::string_view> names;
  for (const processing::BuiltinType& type : namedTypes()) {
    EXPECT_TRUE(names.insert(type.type).second) << type.type;
    EXPECT_NE(type.type.find('/'), std::string_view::npos) << type.type;
    EXPECT_NE(type.type.find(":v"), std::string_view::npos) << type.type;
    EXPECT_FALSE(type.phases.empty()) << type.type;
    EXPECT_NE(type.schema.find("\"additionalProperties\": false"), std::string_view::npos) << type.type;
    EXPECT_NE(type.make, nullptr) << type.type;
  }
  EXPECT_TRUE(names.contains("gateway.networking.k8s.io/CredentialInjector:v1"));
}

TEST(BuiltinTypes, HaveTheirReferencesInTheTableOfConfigs) {
  std::set<std::string> fields;
  for (const processing::BuiltinType& type : namedTypes()) {
    std::map<std::string, std::string> found;
    collectFields(content::parseJson(type.schema).value(), "", found);
    for (const auto& [name, otherwise] : found) {
      if (name.ends_with("Ref") || name.ends_with("Refs")) fields.insert(std::string(type.type) + " " + name);
    }
  }
  std::set<std::string> listed;
  for (const config::ReferenceField& each : config::referenceFields()) {
    listed.insert(std::string(each.type) + " " + std::string(each.name));
  }
  EXPECT_EQ(fields, listed);
}

TEST(BuiltinTypes, HaveEnginesThatEntriesOfCatalogsCanName) {
  std::set<std::string_view> names;
  for (const processing::BuiltinType& type : builtinTypes()) {
    if (type.engine.empty()) {
      EXPECT_FALSE(type.type.empty()) << "a row has a type, an engine or both";
      continue;
    }
    EXPECT_TRUE(names.insert(type.engine).second) << type.engine;
    const auto formats = config::engineFormats();
    EXPECT_TRUE(std::any_of(formats.begin(), formats.end(), [&](const auto& each) { return each.name == type.engine; }))
        << type.engine;
    EXPECT_FALSE(type.phases.empty()) << type.engine;
    EXPECT_NE(type.make, nullptr) << type.engine;
  }
  EXPECT_TRUE(names.contains("ext-proc"));
}

}  // namespace
}  // namespace sluice::filters
