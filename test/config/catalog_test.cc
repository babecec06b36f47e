#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "config/catalog/catalog_cache.h"
#include "config/read/processors/processor_settings.h"
#include "proxy/content/json.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kPii = R"({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
  "additionalProperties": false, "required": ["modelRef"],
  "properties": {"modelRef": {"type": "string", "minLength": 1}, "style": {"enum": ["mask", "hash"], "default": "mask"},
    "limits": {"type": "object", "default": {}, "properties": {"bytes": {"type": "integer", "default": 7}}}}})";

const std::string kGood =
    "type: 'acme.test/Pii:v1'\nengine: lua\nphases: [response-body, request-body]\n"
    "schemaRef: {name: schemas, key: pii.json}\n"
    "defaults: {priority: 5, failOpen: true, timeout: 1s}\nlimits: {bodyBytes: 64Ki}\nlua: {script: x}\n";

ProcessorSupport support() {
  return {{{"sluice.dev/Edit:v1", {"request-headers", "connect", "response-headers"}, true, R"({"type":"object"})"},
           {"sluice.dev/Late:v1", {"request-headers"}, false, R"({"type":"object"})"}},
          {"lua"}};
}

/// Writes settings and ConfigMaps as texts, and reads the Catalog from them with a cache.
class Catalogs : public testing::Test {
 protected:
  /// Sets the data of the ConfigMap ops/`name`.
  void configMap(const std::string& name, const std::map<std::string, std::string>& data) {
    std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: ops}\ndata:\n";
    for (const auto& [key, value] : data) text += "  " + key + ": |\n" + indented(value);
    files_[name + ".yaml"] = text;
  }

  const Catalog& read() {
    std::string refs;
    for (const std::string& name : catalogs_) refs += "{namespace: ops, name: " + name + "}, ";
    configMap("settings", {{"settings.yaml", "processorCatalogs: [" + refs + "]\n"}});
    files_["class.yaml"] =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\n"
        "spec:\n  controllerName: sluice.dev/egress-gateway\n"
        "  parametersRef: {group: '', kind: ConfigMap, name: settings, namespace: ops}\n";
    std::vector<SourceText> texts;
    for (const auto& [file, text] : files_) texts.push_back({file, text});
    Configuration loaded = loadTexts(texts, base::Secret());
    EXPECT_THAT(rendered(loaded.problems), IsEmpty());
    model_ = std::move(loaded.model);
    return readAgain();
  }

  const Catalog& readAgain() {
    Problems problems;
    catalog_ = cache_.read(model_, support_, problems);
    problems_ = rendered(problems);
    return *catalog_;
  }

  /// Returns "admitted", or "Reason: message".
  std::string admitted(const ProcessorUse& use) {
    admission_ = catalog_->admit(use);
    return admission_.outcome == Admission::Outcome::kAdmitted ? "admitted"
                                                               : admission_.reason + ": " + admission_.why.text();
  }

  static ProcessorUse useOf(const std::string& type, const std::string& phase, const std::string& config = "") {
    ProcessorUse use;
    use.name = "u";
    use.type = type;
    use.phase = phase;
    use.path = "spec.extensions[0]";
    if (!config.empty()) use.config = *content::parseJson(config);
    return use;
  }

  void goodCatalog() {
    catalogs_ = {"main"};
    configMap("schemas", {{"pii.json", std::string(kPii)}});
    configMap("main", {{"pii.yaml", kGood}});
  }

  static std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      out += "    " + text.substr(at, end - at) + "\n";
      at = end + 1;
    }
    return out;
  }

  std::map<std::string, std::string> files_;
  std::vector<std::string> catalogs_;
  ProcessorSupport support_ = support();
  CatalogCache cache_;
  Model model_;
  std::shared_ptr<const Catalog> catalog_;
  std::vector<std::string> problems_;
  Admission admission_;
};

TEST_F(Catalogs, BuiltinTypesNeedNoEntry) {
  read();
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(admitted(useOf("sluice.dev/Edit:v1", "connect", "{}")), "admitted");
  EXPECT_EQ(admission_.phase, "connect");
  EXPECT_EQ(admission_.priority, 0);
  EXPECT_FALSE(admission_.failOpen);
  EXPECT_FALSE(admission_.preAuth);
  EXPECT_FALSE(admission_.timeout);
  EXPECT_TRUE(admission_.config.isMap());
}

TEST_F(Catalogs, AnEntryDefinesATypeWithDefaults) {
  goodCatalog();
  read();
  ASSERT_THAT(problems_, IsEmpty());
  EXPECT_EQ(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m"})")), "admitted");
  EXPECT_EQ(admission_.priority, 5);
  EXPECT_TRUE(admission_.failOpen);
  EXPECT_EQ(admission_.timeout, std::chrono::seconds(1));
  EXPECT_EQ(content::writeJson(admission_.config), R"({"modelRef":"m","style":"mask","limits":{"bytes":7}})");
  const CatalogEntry& entry = admission_.type->entry;
  EXPECT_EQ(entry.bodyBytes, 65536u);
  EXPECT_THAT(entry.phases, ElementsAre("request-body", "response-body"));
  EXPECT_EQ(entry.engineConfig->find("script")->text, "x");
  EXPECT_EQ(entry.schemaRef->nameSpace, "ops");
}

TEST_F(Catalogs, AUseOverridesTheDefaults) {
  goodCatalog();
  read();
  ProcessorUse use = useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m","style":"hash"})");
  static_cast<ProcessorSettings&>(use) = {0, false, true, std::chrono::seconds(9)};
  EXPECT_EQ(admitted(use), "admitted");
  EXPECT_EQ(admission_.priority, 0);
  EXPECT_FALSE(admission_.failOpen);
  EXPECT_TRUE(admission_.preAuth);
  EXPECT_EQ(admission_.timeout, std::chrono::seconds(9));
  EXPECT_EQ(admission_.config.find("style")->text, "hash");
}

TEST_F(Catalogs, UnknownKindsOfTheBuiltinDomainsAreRejected) {
  read();
  for (const char* type : {"sluice.dev/Other:v1", "sluice.dev/Edit:v2", "gateway.networking.k8s.io/Edit:v1"}) {
    EXPECT_THAT(admitted(useOf(type, "connect")),
                StartsWith("UnknownExtensionType: spec.extensions[0].type: there is no built-in type"));
    EXPECT_EQ(admission_.outcome, Admission::Outcome::kRejected);
  }
}

TEST_F(Catalogs, TypesOfOtherSpellingsAreDegradedWhileUnsupported) {
  read();
  for (const std::string_view type : {processor_type::kExtProc, processor_type::kInProcess}) {
    EXPECT_THAT(admitted(useOf(std::string(type), "connect")), StartsWith("UnsupportedExtensionType: "));
    EXPECT_EQ(admission_.outcome, Admission::Outcome::kDegraded);
  }
}

TEST_F(Catalogs, KindsOfOtherDomainsAreDegradedWhileUnsupported) {
  goodCatalog();
  support_.engines = {};
  read();
  ProcessorUse use = useOf("other.test/Pii:v1", "connect");
  use.failOpen = true;
  EXPECT_THAT(admitted(use), StartsWith("UnsupportedExtensionType: spec.extensions[0].type: no catalog has the type"));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kDegraded);
  EXPECT_TRUE(admission_.failOpen);
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m"})")),
              HasSubstr("the engine of \"acme.test/Pii:v1\", lua, is not supported"));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kDegraded);
  EXPECT_TRUE(admission_.failOpen) << "by the entry";
}

TEST_F(Catalogs, AUseIsCheckedAgainstItsTypeThoughNothingHereRunsIt) {
  goodCatalog();
  support_.engines = {};
  read();
  const std::string type = "acme.test/Pii:v1";
  const std::string good = R"({"modelRef":"m"})";
  EXPECT_THAT(admitted(useOf(type, "connect", good)),
              StartsWith("UnsupportedPhase: spec.extensions[0].phase: must be"));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kRejected);
  EXPECT_TRUE(admission_.failOpen) << "by the entry";
  EXPECT_THAT(admitted(useOf(type, "", good)), StartsWith("UnsupportedPhase: spec.extensions[0].phase: must be given"));
  EXPECT_THAT(admitted(useOf(type, "request-body", R"({"model":"m"})")),
              StartsWith("InvalidConfig: spec.extensions[0].config: "));
  ProcessorUse late = useOf(type, "response-body", good);
  late.preAuth = true;
  EXPECT_THAT(admitted(late), StartsWith("InvalidPreAuthPhase: spec.extensions[0].preAuth: "));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kRejected);
  EXPECT_THAT(admitted(useOf(type, "response-body", good)), StartsWith("UnsupportedExtensionType: "));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kDegraded);
}

TEST_F(Catalogs, APhaseMustBeAllowedByTheType) {
  read();
  EXPECT_EQ(admitted(useOf("sluice.dev/Edit:v1", "request-body")),
            "UnsupportedPhase: spec.extensions[0].phase: must be request-headers, connect or response-headers, but is "
            "\"request-body\"");
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kRejected);
  EXPECT_THAT(admitted(useOf("sluice.dev/Edit:v1", "request_headers")), StartsWith("UnsupportedPhase: "));
  EXPECT_THAT(admitted(useOf("sluice.dev/Edit:v1", "")),
              HasSubstr("phase: must be given: request-headers, connect or"));
  EXPECT_EQ(admitted(useOf("sluice.dev/Late:v1", "")), "admitted") << "the only one there is";
  EXPECT_EQ(admission_.phase, "request-headers");
}

TEST_F(Catalogs, PreAuthEndsBeforeConnect) {
  goodCatalog();
  read();
  for (const std::string_view phase : kProcessorPhases) {
    support_.types = {{"sluice.dev/All:v1", {std::begin(kProcessorPhases), std::end(kProcessorPhases)}, true, "{}"}};
    cache_ = CatalogCache();
    readAgain();
    ProcessorUse use = useOf("sluice.dev/All:v1", std::string(phase));
    use.preAuth = true;
    const bool early = phase == "request-headers" || phase == "request-body";
    EXPECT_THAT(admitted(use), early ? StartsWith("admitted") : StartsWith("InvalidPreAuthPhase: ")) << phase;
  }
}

TEST_F(Catalogs, PreAuthRequiresATypeThatSupportsIt) {
  read();
  ProcessorUse use = useOf("sluice.dev/Late:v1", "");
  use.preAuth = true;
  EXPECT_THAT(admitted(use), StartsWith("UnsupportedPreAuth: spec.extensions[0].preAuth: must not be true"));
  use.preAuth = false;
  EXPECT_EQ(admitted(use), "admitted");
}

TEST_F(Catalogs, ACatalogsPreAuthAppliesOnlyToPhasesBeforeAuthentication) {
  catalogs_ = {"main"};
  configMap("main", {{"a.yaml",
                      "type: 'sluice.dev/Edit:v1'\nengine: builtin\nphases: [request-headers, connect]\n"
                      "defaults: {preAuth: true}\n"}});
  read();
  ASSERT_THAT(problems_, IsEmpty());
  EXPECT_EQ(admitted(useOf("sluice.dev/Edit:v1", "request-headers")), "admitted");
  EXPECT_TRUE(admission_.preAuth);
  EXPECT_EQ(admitted(useOf("sluice.dev/Edit:v1", "connect")), "admitted");
  EXPECT_FALSE(admission_.preAuth);
}

TEST_F(Catalogs, AConfigIsCheckedAgainstItsSchemaAndAllFaultsAreReported) {
  goodCatalog();
  read();
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"","style":"blur","x":1})")),
              AllOf(StartsWith("InvalidConfig: spec.extensions[0].config: "), HasSubstr("/modelRef: "),
                    HasSubstr("/style: "), HasSubstr("x")));
  EXPECT_EQ(admission_.outcome, Admission::Outcome::kRejected);
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body")), StartsWith("InvalidConfig: ")) << "none is {}";
}

TEST_F(Catalogs, AnEntryMayRestrictABuiltinType) {
  catalogs_ = {"main"};
  configMap("main", {{"edit.yaml",
                      "type: 'sluice.dev/Edit:v1'\nengine: builtin\nphases: [connect]\ndefaults: {priority: 3}\n"}});
  read();
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(admitted(useOf("sluice.dev/Edit:v1", "connect")), "admitted");
  EXPECT_EQ(admission_.priority, 3);
  EXPECT_THAT(admitted(useOf("sluice.dev/Edit:v1", "request-headers")), StartsWith("UnsupportedPhase: "));
}

TEST_F(Catalogs, ABrokenEntryDisablesOnlyItsTypeAndIsReportedWithItsLine) {
  goodCatalog();
  configMap("main", {{"broken.yaml",
                      "type: 'acme.test/Broken:v1'\nengine: lua\nphases: [request-headres]\n"
                      "schemaRef: {name: schemas, key: pii.json}\nlua: {script: x}\n"},
                     {"edit.yaml", "type: 'sluice.dev/Edit:v1'\nengine: builtin\nphases: [connect]\nlimit: 1\n"},
                     {"pii.yaml", kGood},
                     {"text.yaml", "[1, 2\n"}});
  read();
  ASSERT_THAT(problems_, SizeIs(::testing::Ge(3u)));
  EXPECT_THAT(problems_[0], StartsWith("main.yaml:8:"));
  EXPECT_THAT(problems_[0], HasSubstr("ConfigMap ops/main: broken.yaml: phases[0]: must be one of the seven phases"));
  EXPECT_EQ(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m"})")), "admitted");
  EXPECT_THAT(admitted(useOf("acme.test/Broken:v1", "request-headers")),
              AllOf(StartsWith("UnsupportedExtensionType: "), HasSubstr("its entry in the catalog is not valid"),
                    Not(HasSubstr("phases"))))
      << "the platform alone is told why";
  EXPECT_THAT(admitted(useOf("sluice.dev/Edit:v1", "connect")), StartsWith("UnsupportedExtensionType: "))
      << "whoever meant to restrict it does not leave it open";
}

TEST_F(Catalogs, InvalidEntriesAreRefused) {
  const auto problemOf = [&](const std::string& text) {
    goodCatalog();
    configMap("main", {{"e.yaml", text}});
    cache_ = CatalogCache();
    read();
    return problems_.empty() ? "none" : problems_.front();
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kGood;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(problemOf(kGood), "none");
  EXPECT_THAT(problemOf(with("acme.test/", "sluice.dev/")), HasSubstr("is for built-in types"));
  EXPECT_THAT(problemOf(with("acme.test/Pii:v1", "acme/Pii")), HasSubstr("e.yaml: type: must be a processor type"));
  EXPECT_THAT(problemOf(with("engine: lua", "engine: luajit")), HasSubstr("e.yaml: engine: must be"));
  EXPECT_THAT(problemOf(with("phases: [response-body, request-body]", "phases: []")), HasSubstr("phases: must name"));
  EXPECT_THAT(problemOf(with("key: pii.json", "key: none.json")), HasSubstr("ConfigMap ops/schemas has no key none"));
  EXPECT_THAT(problemOf(with("name: schemas", "name: nobody")), HasSubstr("ConfigMap ops/nobody does not exist"));
  EXPECT_THAT(problemOf(with("schemaRef: {name: schemas, key: pii.json}\n", "")), HasSubstr("schemaRef: is required"));
  EXPECT_THAT(problemOf(with("64Ki", "many")), HasSubstr("limits.bodyBytes: must be a quantity"));
  EXPECT_THAT(problemOf(with("lua: {script: x}", "lua: {script: x}\nextProc: {}")), HasSubstr("extProc"));
  EXPECT_THAT(problemOf(with("lua: {script: x}", "lua: 1")), HasSubstr("lua: must be a map"));
  EXPECT_THAT(problemOf("x: " + std::string(600000, 'x') + "\n"),
              AllOf(HasSubstr("ConfigMap ops/main: e.yaml: has 60000"), HasSubstr("524288 are allowed")));
  EXPECT_THAT(problemOf("type: 'sluice.dev/New:v1'\nengine: builtin\nphases: [connect]\n"),
              HasSubstr("there is no built-in type"));
  EXPECT_THAT(problemOf("type: 'sluice.dev/Late:v1'\nengine: builtin\nphases: [connect]\n"),
              HasSubstr("cannot run in the phase connect"));
  EXPECT_THAT(problemOf("type: 'sluice.dev/Late:v1'\nengine: builtin\nphases: [request-headers]\n"
                        "defaults: {preAuth: true}\n"),
              HasSubstr("runs after authentication only"));
  EXPECT_THAT(problemOf(with("phases: [response-body, request-body]\n", "phases: [connect]\n") + "x: 1\n"),
              HasSubstr("e.yaml: x"));
  EXPECT_THAT(problemOf("\n"), HasSubstr("e.yaml: "));
}

TEST_F(Catalogs, AnInvalidSchemaIsReportedWithItsPlace) {
  catalogs_ = {"main"};
  configMap("schemas", {{"pii.json", R"({"properties": {"a": {"$ref": "http://127.0.0.1:1/"}}})"}});
  configMap("main", {{"pii.yaml", kGood}});
  read();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("ConfigMap ops/schemas, pii.json: /properties/a/$ref: must refer to")));
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body")), StartsWith("UnsupportedExtensionType: "));
}

TEST_F(Catalogs, ADefaultThatItsOwnSchemaRefusesIsAFaultOfTheEntry) {
  catalogs_ = {"main"};
  configMap("schemas", {{"pii.json", R"({"properties": {"a": {"type": "string", "default": 1}}})"}});
  configMap("main", {{"pii.yaml", kGood}});
  read();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("ConfigMap ops/schemas, pii.json: /properties/a/default: as a default, "
                                               "must be a string")));
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body")), StartsWith("UnsupportedExtensionType: "));
}

TEST_F(Catalogs, DefaultsAreFilledInWhenTheConfigHasBeenChecked) {
  goodCatalog();
  configMap("schemas",
            {{"pii.json", R"({"properties": {"a": {"default": 1}, "b": {"default": 2}}, "required": ["a"]})"}});
  read();
  EXPECT_THAT(admitted(useOf("acme.test/Pii:v1", "request-body")), HasSubstr("config: must have the member \"a\""));
  EXPECT_EQ(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"a":0})")), "admitted");
  EXPECT_EQ(content::writeJson(admission_.config), R"({"a":0,"b":2})");
}

TEST_F(Catalogs, TheFirstEntryOfATypeInTheOrderOfTheSettingsCounts) {
  goodCatalog();
  catalogs_ = {"z", "main"};
  std::string other = kGood;
  other.replace(other.find("priority: 5"), 11, "priority: 9");
  configMap("z", {{"b.yaml", other}, {"c.yaml", kGood}});
  read();
  EXPECT_THAT(
      problems_,
      ElementsAre(AllOf(HasSubstr("ConfigMap ops/z: c.yaml"), HasSubstr("is in ConfigMap ops/z, b.yaml")),
                  AllOf(HasSubstr("ConfigMap ops/main: pii.yaml"), HasSubstr("is in ConfigMap ops/z, b.yaml"))));
  EXPECT_EQ(admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m"})")), "admitted");
  EXPECT_EQ(admission_.priority, 9);
}

TEST_F(Catalogs, AMissingCatalogIsAProblem) {
  catalogs_ = {"nobody"};
  read();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("ConfigMap ops/nobody: does not exist")));
}

TEST_F(Catalogs, OtherKeysAreNotEntries) {
  goodCatalog();
  configMap("main", {{"pii.yaml", kGood}, {"readme.md", "type: [\n"}});
  read();
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Catalogs, AnUnchangedCatalogStaysTheSameObject) {
  goodCatalog();
  read();
  const auto first = catalog_;
  readAgain();
  EXPECT_EQ(catalog_, first);
}

TEST_F(Catalogs, ACatalogChangesWithItsSchemasAndReportsItsProblemsEachTime) {
  goodCatalog();
  files_.erase("schemas.yaml");
  read();
  const auto first = catalog_;
  EXPECT_THAT(problems_, SizeIs(1));
  readAgain();
  EXPECT_EQ(catalog_, first);
  EXPECT_THAT(problems_, SizeIs(1));
  configMap("schemas", {{"pii.json", std::string(kPii)}});
  read();
  EXPECT_NE(catalog_, first);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Catalogs, AScriptElsewhereIsPartOfTheEntryAndTheCatalogChangesWithIt) {
  goodCatalog();
  std::string entry = kGood;
  entry.replace(entry.find("{script: x}"), 11, "{scriptRef: {name: scripts, key: a.lua}}");
  configMap("main", {{"pii.yaml", entry}});
  const auto script = [&] {
    return admitted(useOf("acme.test/Pii:v1", "request-body", R"({"modelRef":"m"})")) == "admitted"
               ? admission_.type->entry.engineConfig->find("script")->text
               : admission_.reason;
  };
  read();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("pii.yaml: lua.scriptRef: ConfigMap ops/scripts does not exist")));
  EXPECT_EQ(script(), "UnsupportedExtensionType");
  configMap("scripts", {{"b.lua", "return 1"}});
  read();
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("pii.yaml: lua.scriptRef: ConfigMap ops/scripts has no key a.lua")));
  configMap("scripts", {{"a.lua", "return 1"}});
  read();
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(script(), "return 1\n");
  const content::Position& position = admission_.type->entry.engineConfig->find("script")->position;
  EXPECT_EQ(position.fileName(), "scripts.yaml");
  EXPECT_EQ(position.line, 5u);
  configMap("scripts", {{"a.lua", "return 2"}});
  read();
  EXPECT_EQ(script(), "return 2\n");
}

TEST_F(Catalogs, AThousandTypesFit) {
  goodCatalog();
  catalogs_ = {};
  for (int part = 0; part < 10; ++part) {
    std::map<std::string, std::string> data;
    for (int i = 0; i < 100; ++i) {
      const std::string kind = "K" + std::to_string(part * 100 + i);
      std::string text = kGood;
      data[kind + ".yaml"] = text.replace(text.find("Pii"), 3, kind);
    }
    catalogs_.push_back("part" + std::to_string(part));
    configMap(catalogs_.back(), data);
  }
  EXPECT_EQ(read().types().size(), 1002u);
  EXPECT_THAT(problems_, IsEmpty());
}

}  // namespace
}  // namespace sluice::config
