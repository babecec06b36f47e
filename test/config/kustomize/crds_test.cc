// Tests that the CustomResourceDefinitions of sluice.dev and the readers agree: each has the fields of the other, and
// the CRDs have the status that the gateway writes. In test/integration/kubernetes, an API server checks the schemas
// themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "config/load/object_reading.h"
#include "config/read/processors/processor_settings.h"
#include "config/status/conditions.h"
#include "config/yaml/yaml_reader.h"
#include "config/yaml/yaml_writer.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

using FieldPaths = std::set<std::string>;

const std::string kDefinitionFolder = SLUICE_SOURCE_DIR "/config/kustomize/crds";

std::vector<Document> documentsIn(const std::string& text, const std::string& name) {
  Problems problems;
  std::vector<Document> documents = readYaml(text, {std::make_shared<const std::string>(name)}, problems);
  EXPECT_THAT(rendered(problems), IsEmpty());
  return documents;
}

/// Returns the member at a path such as "spec.names.kind". If there is none, returns a null value and fails the test.
const Value& memberAt(const Value& root, const std::string& path) {
  static const Value none;
  const Value* value = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    value = value->find(path.substr(begin, end - begin));
    if (value == nullptr) {
      ADD_FAILURE() << "there is no " << path;
      return none;
    }
    begin = end + 1;
  }
  return *value;
}

/// Returns the definitions by the kind that they define.
std::map<std::string, Value> definitions() {
  std::map<std::string, Value> found;
  for (const auto& entry : std::filesystem::directory_iterator(kDefinitionFolder)) {
    if (entry.path().filename() == "kustomization.yaml") continue;
    for (const Document& document : documentsIn(fileText(entry.path().string()), entry.path().filename().string())) {
      found.emplace(memberAt(document.root, "spec.names.kind").text, document.root);
    }
  }
  EXPECT_FALSE(found.empty());
  return found;
}

/// Returns the definitions of kinds by which users configure the gateway. The gateway itself writes EgressRevisions.
std::map<std::string, Value> configurationDefinitions() {
  std::map<std::string, Value> found = definitions();
  EXPECT_EQ(found.erase("EgressRevision"), 1u);
  return found;
}

const Value& schemaOf(const Value& definition) {
  return memberAt(memberAt(definition, "spec.versions").items.at(0), "schema.openAPIV3Schema");
}

/// Adds the paths of all properties below a schema, such as "spec.ports[].number".
void addProperties(const Value& schema, const std::string& path, FieldPaths& paths) {
  if (const Value* properties = schema.find("properties")) {
    for (const Member& each : properties->members) {
      const std::string field = path.empty() ? each.key : path + "." + each.key;
      paths.insert(field);
      addProperties(each.value, field, paths);
    }
  }
  if (const Value* items = schema.find("items")) addProperties(*items, path + "[]", paths);
}

FieldPaths propertiesOf(const Value& schema) {
  FieldPaths paths;
  addProperties(schema, "", paths);
  return paths;
}

void addFields(const Value& value, const std::string& path, FieldPaths& paths) {
  for (const Member& each : value.members) {
    const std::string field = path.empty() ? each.key : path + "." + each.key;
    if (!each.value.isNull()) paths.insert(field);
    addFields(each.value, field, paths);
  }
  for (const Value& each : value.items) addFields(each, path + "[]", paths);
}

FieldPaths fieldsOf(const Value& value) {
  FieldPaths paths;
  addFields(value, "", paths);
  return paths;
}

/// Replaces the path of parts that occur in several places, namely uses of processors and TLS, by a common path.
std::string commonPath(const std::string& path) {
  static const std::regex use(R"re(^spec\.(?:extensions|processors)\[\])re");
  static const std::regex tls(R"re(^spec\.(?:destination\.(?:ports|endpoints)\[\]\.)?tls)re");
  static const std::regex options(R"re(^spec\.destination\.endpoints\[\]\.protocolOptions)re");
  const std::string common = std::regex_replace(std::regex_replace(path, use, "use"), tls, "tls");
  return std::regex_replace(common, options, "spec.destination.ports[].protocolOptions");
}

/// Returns the fields of the objects in test/support/kube/objects/valid, by kind. The readers know these fields: an
/// object with an error fails the test.
std::map<std::string, FieldPaths> fieldsOfValidObjects() {
  static const base::Secret key;
  std::map<std::string, FieldPaths> fields;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/test/support/kube/objects/valid")) {
    for (const Document& document : documentsIn(fileText(entry.path().string()), entry.path().filename().string())) {
      std::vector<ObjectReading> readings;
      readObjects(document.root, {Severity::kError, key}, readings);
      EXPECT_EQ(readings.size(), 1u);
      for (const ObjectReading& reading : readings) EXPECT_THAT(rendered(reading.problems), IsEmpty());
      for (const std::string& path : fieldsOf(document.root)) {
        fields[memberAt(document.root, "kind").text].insert(commonPath(path));
      }
    }
  }
  return fields;
}

TEST(CustomResources, DefineEveryKindOfThisProjectAsTheReadersKnowIt) {
  const std::map<std::string, Value> defined = configurationDefinitions();
  std::set<std::string> kinds;
  for (const ObjectKind& kind : objectKinds()) {
    if (kind.group != kOwnGroup) continue;
    kinds.insert(std::string(kind.kind));
    const auto found = defined.find(std::string(kind.kind));
    ASSERT_NE(found, defined.end()) << kind.kind;
    const Value& spec = memberAt(found->second, "spec");
    EXPECT_EQ(memberAt(spec, "group").text, kind.group);
    EXPECT_EQ(memberAt(found->second, "metadata.name").text, memberAt(spec, "names.plural").text + ".sluice.dev");
    EXPECT_EQ(memberAt(spec, "scope").text, kind.namespaced ? "Namespaced" : "Cluster");
    std::vector<std::string> versions;
    for (const Value& version : memberAt(spec, "versions").items) {
      versions.push_back(memberAt(version, "name").text);
      const Value* subresources = version.find("subresources");
      EXPECT_EQ(subresources != nullptr && subresources->find("status") != nullptr, kind.status.has_value())
          << kind.kind;
    }
    EXPECT_THAT(versions, ElementsAreArray(kind.versions.begin(), kind.versions.end()));
  }
  EXPECT_EQ(kinds.size(), defined.size()) << "a kind is defined that no reader takes";
}

TEST(CustomResources, AreAllInTheKustomization) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kDefinitionFolder)) {
    if (entry.path().filename() != "kustomization.yaml") files.push_back(entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  const auto documents = documentsIn(fileText(kDefinitionFolder + "/kustomization.yaml"), "kustomization.yaml");
  std::vector<std::string> resources;
  for (const Value& resource : memberAt(documents.at(0).root, "resources").items) resources.push_back(resource.text);
  EXPECT_EQ(resources, files);
}

TEST(CustomResources, HaveOnlyFieldsThatTheReadersKnow) {
  const std::map<std::string, FieldPaths> valid = fieldsOfValidObjects();
  FieldPaths uses;
  for (const auto& [kind, fields] : valid) uses.insert(fields.begin(), fields.end());
  for (const auto& [kind, definition] : configurationDefinitions()) {
    for (const std::string& path : propertiesOf(schemaOf(definition))) {
      if (path.starts_with("status")) continue;
      const std::string common = commonPath(path);
      const bool shared = common.starts_with("use");
      EXPECT_TRUE((shared ? uses : valid.at(kind)).contains(common)) << kind << ": no valid object has " << path;
    }
  }
}

TEST(CustomResources, HaveEveryFieldThatTheReadersKnow) {
  // Readers name fields in calls such as find("port"). The calls of addMember(), addText(), addFlag() and similar
  // functions write the config of a built-in type instead.
  static const std::regex call(R"re((\w+)(?:<[^;]*?>)?\((?:\w+, )?"([a-z]\w+)")re");
  static const std::regex destination(R"re(DestinationType k\w+\{"\w+", "(\w+)"\})re");
  std::set<std::string> read;
  for (const char* file :
       {"read/backends/read_destination.cc", "read/backends/read_destination_tls.cc",
        "read/backends/read_backend_common.cc", "read/processors/read_processor_use.cc",
        "read/processors/read_in_process_use.cc", "read/processors/read_remote_use.cc",
        "read/processors/read_payload_processor.cc", "read/traffic/read_traffic_policy.cc",
        "read/traffic/read_health_check.cc", "read/traffic/read_connection_traffic.cc",
        "read/gateways/read_gateway_parameters.cc", "read/gateways/identity_reader.cc", "read/traffic/read_retry.cc",
        "read/read_common.cc", "read/processors/processor_settings.cc", "read/traffic/read_egress_policy.cc",
        "read/traffic/read_load_balancing.cc", "read/traffic/read_matching.cc"}) {
    std::string text = fileText(SLUICE_SOURCE_DIR "/config/" + std::string(file));
    ASSERT_FALSE(text.empty()) << file;
    // The code before readObjectRef() in its file reads the metadata.
    if (const std::size_t begin = text.find("\nvoid readObjectRef("); begin != text.npos) text.erase(0, begin);
    for (auto match = std::sregex_iterator(text.begin(), text.end(), call); match != std::sregex_iterator(); ++match) {
      const std::string function = (*match)[1];
      if (std::set<std::string>{"addMember", "addText", "addFlag", "addMap", "addList"}.contains(function)) continue;
      read.insert((*match)[2].str());
    }
    for (auto match = std::sregex_iterator(text.begin(), text.end(), destination); match != std::sregex_iterator();
         ++match) {
      read.insert((*match)[1].str());
    }
  }
  std::set<std::string> defined = {"spec"};
  for (const auto& [kind, definition] : configurationDefinitions()) {
    for (const std::string& path : propertiesOf(memberAt(schemaOf(definition), "properties.spec"))) {
      defined.insert(path.substr(path.rfind('.') + 1));
    }
  }
  EXPECT_EQ(read, defined);
}

TEST(CustomResources, AreInTheReferenceOfTrafficPolicies) {
  std::map<std::string, Value> defined = definitions();
  const FieldPaths fields = propertiesOf(memberAt(schemaOf(defined.at("TrafficPolicy")), "properties.spec"));
  FieldPaths listed;
  const std::string page = test::referencePage("traffic-policy.md");
  for (const std::string& field : test::firstWords(test::pageTable(page, "| field | default | meaning |"))) {
    listed.insert(field);
    EXPECT_TRUE(fields.contains(field)) << field << " is no field";
  }
  for (const std::string& field : fields) {
    const bool isListed = listed.contains(field) || field == "healthCheck" || field.find("[]") != field.npos;
    EXPECT_TRUE(isListed) << field << " is not in the table";
  }
}

TEST(CustomResources, AreInTheReferenceOfEgressPolicies) {
  std::map<std::string, Value> defined = definitions();
  FieldPaths fields = propertiesOf(memberAt(schemaOf(defined.at("EgressPolicy")), "properties.spec"));
  // The row of targetRefs has these.
  std::erase_if(fields, [](const std::string& field) { return field.starts_with("targetRefs[]"); });
  const auto rows = test::pageTable(test::referencePage("egress-policy.md"), "| field | default | meaning |");
  EXPECT_THAT(test::firstWords(rows), testing::UnorderedElementsAreArray(fields));
}

TEST(CustomResources, DescribeWhatTheyShareInTheSameWords) {
  std::map<std::string, Value> defined = definitions();
  const auto spec = [&](const std::string& kind) -> const Value& {
    return memberAt(schemaOf(defined.at(kind)), "properties.spec.properties");
  };
  const std::string use = writeYaml(memberAt(spec("Backend"), "extensions.items"));
  EXPECT_EQ(writeYaml(memberAt(spec("PayloadProcessor"), "processors.items")), use);
  EXPECT_EQ(writeYaml(memberAt(spec("PayloadProcessingPipeline"), "processors.items")), use);
  EXPECT_EQ(writeYaml(memberAt(spec("Backend"), "destination.properties.ports.items.properties.tls.properties")),
            writeYaml(memberAt(spec("Backend"), "tls.properties")));
  std::vector<std::string> phases;
  for (const Value& phase : memberAt(spec("Backend"), "extensions.items.properties.phase.enum").items) {
    phases.push_back(phase.text);
  }
  EXPECT_THAT(phases, ElementsAreArray(kProcessorPhases));
}

/// Returns the paths of properties without a description.
void addUndescribed(const Value& schema, const std::string& path, FieldPaths& paths) {
  if (const Value* properties = schema.find("properties")) {
    for (const Member& each : properties->members) {
      const std::string field = path + "." + each.key;
      if (each.value.find("description") == nullptr) paths.insert(field);
      addUndescribed(each.value, field, paths);
    }
  }
  if (const Value* items = schema.find("items")) addUndescribed(*items, path + "[]", paths);
}

TEST(CustomResources, DescribeEveryField) {
  for (const auto& [kind, definition] : definitions()) {
    FieldPaths paths;
    addUndescribed(schemaOf(definition), kind, paths);
    paths.erase(kind + ".metadata");  // these fields belong to the API server
    EXPECT_THAT(paths, IsEmpty());
  }
}

TEST(CustomResources, HaveTheStatusThatIsWritten) {
  const std::map<std::string, Value> defined = definitions();
  const Condition condition{"Accepted", ConditionStatus::kTrue, "Accepted", "yes", 1, base::WallTime()};
  ObjectStatus status;
  status.conditions = {condition};
  status.controllers = {{"sluice.dev/egress-gateway", {condition}}};
  status.parents.push_back({{}, kControllerName, {condition}});
  ParentRef& parent = status.parents[0].parentRef;
  parent.object.group = kGatewayGroup;
  parent.object.kind = "Gateway";
  parent.object.nameSpace = "demo";
  parent.object.name = "egress";
  parent.sectionName = "http";
  parent.port = 80;
  for (const ObjectKind& kind : objectKinds()) {
    if (kind.group != kOwnGroup || !kind.status) continue;
    status.shape = *kind.status;
    const auto documents = documentsIn(statusJson(status), "status.json");
    const Value& schema = memberAt(schemaOf(defined.at(std::string(kind.kind))), "properties.status");
    const FieldPaths written = fieldsOf(documents.at(0).root);
    EXPECT_GT(written.size(), 6u);
    EXPECT_THAT(propertiesOf(schema), IsSupersetOf(written)) << kind.kind;
  }
}

}  // namespace
}  // namespace sluice::config
