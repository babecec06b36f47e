// Tests that the reference for users and the readers agree: every spelling that is read has a line on its page, every
// line describes a spelling that is read, and every example is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using test::firstWords;
using test::pageTable;
using test::referencePage;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

/// Returns the first group of each match in a source file, without duplicates.
std::set<std::string> namesIn(const std::string& file, const std::string& pattern) {
  const std::string text = fileText(SLUICE_SOURCE_DIR "/" + file);
  const std::regex regex(pattern);
  std::set<std::string> names;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), regex); match != std::sregex_iterator(); ++match) {
    names.insert((*match)[1].str());
  }
  EXPECT_FALSE(names.empty()) << file << ": nothing matches " << pattern;
  return names;
}

/// Returns "kind group" for the rows whose first two cells are these.
std::vector<std::string> kindsAndGroups(const std::vector<test::PageRow>& rows) {
  std::vector<std::string> names;
  for (const test::PageRow& row : rows) {
    const auto group = test::quotedWords(row.at(1));
    names.push_back(test::quotedWords(row.at(0)).at(0) + " " + (group.empty() ? "" : group.at(0)));
  }
  return names;
}

/// Wraps settings in objects, so that they can be loaded like other examples.
std::string asObjects(const std::string& settings) {
  std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\nspec:\n"
      "  controllerName: sluice.dev/egress-gateway\n"
      "  parametersRef: {group: '', kind: ConfigMap, namespace: a, name: b}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: b}\ndata:\n  settings.yaml: |\n";
  for (std::size_t begin = 0; begin < settings.size();) {
    const std::size_t end = settings.find('\n', begin);
    text += "    " + settings.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

TEST(Reference, HasExamplesThatAreAccepted) {
  std::size_t examples = 0;
  const std::filesystem::path pages = SLUICE_SOURCE_DIR "/config/reference";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(pages)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), pages).string();
    for (const std::string& block : test::yamlBlocks(referencePage(name))) {
      ++examples;
      const bool hasObjects = ("\n" + block).find("\napiVersion:") != std::string::npos;
      EXPECT_THAT(rendered(loadText(hasObjects ? block : asObjects(block), name).problems), IsEmpty()) << block;
    }
  }
  EXPECT_GT(examples, 12u);
}

TEST(Reference, ListsEveryKindOfObject) {
  const std::string page = referencePage("gateway-api.md");
  std::vector<std::string> read;
  for (const ObjectKind& kind : objectKinds()) read.push_back(std::string(kind.kind) + " " + std::string(kind.group));
  EXPECT_THAT(kindsAndGroups(pageTable(page, "| kind | group | what is supported |")), UnorderedElementsAreArray(read));

  const auto others = pageTable(page, "| not served | group |");
  for (const test::PageRow& row : others) {
    EXPECT_TRUE(isUnsupportedKind(test::quotedWords(row.at(1)).at(0), test::quotedWords(row.at(0)).at(0))) << row[0];
  }
  const std::string table = fileText(SLUICE_SOURCE_DIR "/config/read/object_kinds.cc");
  const std::size_t begin = table.find("kUnsupportedKinds[] = {");
  const std::string lines = table.substr(begin, table.find("};", begin) - begin);
  for (const std::string& kind : firstWords(others)) EXPECT_NE(lines.find("\"" + kind + "\""), std::string::npos);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '"'), 2 * static_cast<std::ptrdiff_t>(others.size()));
}

TEST(Reference, ListsEverySpellingOfABackend) {
  std::vector<std::string> read;
  for (const ObjectKind& kind : objectKinds()) {
    if (!kind.isOf<Backend>() && !kind.isOf<Service>()) continue;
    for (const std::string_view version : kind.versions) {
      const std::string group = kind.group.empty() ? "" : std::string(kind.group) + "/";
      read.push_back(group + std::string(version) + " " + std::string(kind.kind));
    }
  }
  const std::string page = referencePage("backends.md");
  std::vector<std::string> listed;
  for (const test::PageRow& row : pageTable(page, "| apiVersion | kind | what it is |")) {
    listed.push_back(test::quotedWords(row.at(0)).at(0) + " " + test::quotedWords(row.at(1)).at(0));
  }
  EXPECT_THAT(listed, UnorderedElementsAreArray(read));

  std::string examples;
  for (const std::string& block : test::yamlBlocks(page)) examples += block;
  for (const std::string& each : read) {
    const std::size_t blank = each.find(' ');
    const std::string head = "apiVersion: " + each.substr(0, blank) + "\nkind: " + each.substr(blank + 1) + "\n";
    EXPECT_NE(examples.find(head), std::string::npos) << each << " has no example";
  }
}

TEST(Reference, ListsHowABackendIsReached) {
  const std::string page = referencePage("backends.md");
  const std::string destination = "config/read/backends/read_destination.cc";
  EXPECT_THAT(firstWords(pageTable(page, "| type | goes with | meaning |")),
              UnorderedElementsAreArray(namesIn(destination, R"re(DestinationType k\w+\{"(\w+)")re")));
  std::set<std::string> protocols = namesIn(destination, R"re(\{"(\w+)", BackendProtocol::)re");
  protocols.merge(namesIn("config/read/backends/read_backend_x.cc", R"re(\{"(\w+)", BackendProtocol::)re"));
  EXPECT_THAT(firstWords(pageTable(page, "| protocol | in | meaning |")), UnorderedElementsAreArray(protocols));
}

TEST(Reference, ListsTheTlsOfABackend) {
  const std::string page = referencePage("backends.md");
  EXPECT_THAT(firstWords(pageTable(page, "| mode | meaning |")),
              UnorderedElementsAreArray(
                  namesIn("config/read/backends/read_backend_common.cc", R"re(\{"(\w+)",\s+TlsMode::)re")));
  EXPECT_THAT(firstWords(pageTable(page, "| option | value | meaning |")),
              UnorderedElementsAreArray(
                  namesIn("config/model/backend_tls.h", R"re(string_view k\w+ = "(sluice\.dev/[\w-]+)")re")));
  std::set<std::string> fields = namesIn("config/read/backends/read_destination_tls.cc",
                                         R"re(tls\.(?:text|read|list|textMap|find|map)\("(\w+)")re");
  fields.merge(
      std::set<std::string>{"mode", "clientCertificateRef", "options"});  // functions for several spellings read these
  EXPECT_THAT(firstWords(pageTable(page, "| field | default | meaning |")), UnorderedElementsAreArray(fields));
}

TEST(Reference, ListsTheFieldsOfAnEndpoint) {
  std::set<std::string> fields =
      namesIn("config/read/backends/read_destination.cc", R"re(reader\.read\("(\w+)", (?:endpoint|port)\.)re");
  fields.merge(std::set<std::string>{"fqdn", "ip", "tls"});  // a Backend with one host has these too
  EXPECT_THAT(firstWords(pageTable(referencePage("backends.md"), "| field of an endpoint | default | meaning |")),
              UnorderedElementsAreArray(fields));
}

TEST(Reference, ListsEveryFieldOfABackendTlsPolicy) {
  auto fields =
      namesIn("config/read/backends/read_tls_validation.cc", R"re((?:text|list|read)\((?:required\()?"(\w+)")re");
  fields.merge(std::set<std::string>{"targetRefs", "sectionName", "type", "options"});  // other kinds have these too
  std::set<std::string> listed;
  for (const std::string& path :
       firstWords(pageTable(referencePage("backend-tls-policy.md"), "| field | default | meaning |"))) {
    listed.insert(path.substr(path.rfind('.') + 1));
  }
  EXPECT_THAT(listed, UnorderedElementsAreArray(fields));
}

TEST(Reference, ListsEveryFilterAndPolicyOfRoutes) {
  const std::string page = referencePage("policies.md");
  EXPECT_THAT(
      firstWords(pageTable(page, "| filter | in | what it does |")),
      UnorderedElementsAreArray(namesIn("config/read/routes/read_filters.cc", R"re(FilterKind k\w+\{"(\w+)")re")));
  std::vector<std::string> policies;
  for (const ObjectKind& kind : objectKinds()) {
    if (!kind.isOf<UnsupportedPolicy>()) continue;
    policies.push_back(std::string(kind.kind) + " " + std::string(kind.group));
  }
  EXPECT_THAT(kindsAndGroups(pageTable(page, "| policy | group |")), UnorderedElementsAreArray(policies));
}

TEST(Reference, ListsEveryReasonOfAConditionWithItsMeaning) {
  const std::string header = fileText(SLUICE_SOURCE_DIR "/config/status/conditions.h");
  const std::size_t begin = header.find("namespace reason {");
  const std::string reasons = header.substr(begin, header.find("}  // namespace reason", begin) - begin);
  const auto own = firstWords(pageTable(referencePage("faults.md"), "| reason | what it means |"));
  for (const std::string& reason : own) {
    EXPECT_NE(reasons.find("\"" + reason + "\""), std::string::npos) << reason << " does not exist";
  }
  // The page has other tables about payload processors: their reasons, and the states of a use.
  const std::string processors = referencePage("processors.md");
  std::vector<std::string> others = firstWords(pageTable(processors, "| reason | cause |"));
  for (const test::PageRow& row : pageTable(processors, "| state | condition | what happens next |")) {
    for (std::string& reason : test::quotedWords(row.at(1))) others.push_back(std::move(reason));
  }
  for (const std::string& reason : namesIn("config/status/conditions.h", R"re(string_view k\w+ = "(\w+)";)re")) {
    if (reasons.find("\"" + reason + "\"") == std::string::npos) continue;  // it is the type of a condition
    const bool ofProcessors = std::find(others.begin(), others.end(), reason) != others.end();
    EXPECT_TRUE(ofProcessors || std::find(own.begin(), own.end(), reason) != own.end()) << reason << " is missing";
  }
}

TEST(Reference, ListsWhyAUseDoesNotRun) {
  const auto listed = firstWords(pageTable(referencePage("processors.md"), "| reason | cause |"));
  for (const std::string& reason :
       namesIn("config/catalog/catalog.h", R"re(string_view k\w+ = "(\w*(?:Type|Phase|PreAuth|Config))")re")) {
    EXPECT_THAT(listed, Contains(reason));
  }
  std::string sources = fileText(SLUICE_SOURCE_DIR "/config/status/conditions.h");
  sources += fileText(SLUICE_SOURCE_DIR "/config/catalog/catalog.h");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SLUICE_SOURCE_DIR "/filters")) {
    if (entry.is_regular_file()) sources += fileText(entry.path().string());
  }
  for (const std::string& reason : listed) {
    EXPECT_NE(sources.find("\"" + reason + "\""), std::string::npos) << reason << " does not exist";
  }
  for (const std::string& reason : namesIn("filters/credential_injector.cc", R"re(\{"([A-Z][a-z]+[A-Z]\w*)",)re")) {
    EXPECT_THAT(listed, Contains(reason));
  }
}

}  // namespace
}  // namespace sluice::config
