// Tests the CustomResourceDefinitions of sluice.dev (config/kustomize/crds) with a real API server: it accepts and
// refuses the same objects of test/support/kube/objects as `sluice validate`, and keeps and shows the status that the
// gateway writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/kubectl.h"
#include "test/integration/support/sluice_command.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kObjects = SLUICE_SOURCE_DIR "/test/support/kube/objects";
const std::string kDefinitions = SLUICE_SOURCE_DIR "/config/kustomize/crds";

/// "Backend tls-empty": the kind and the name of an object.
using ObjectNames = std::set<std::string>;

/// Objects on which the two verdicts differ, and why they must.
struct DifferingVerdict {
  const char* reason;
  ObjectNames objects;
};
const DifferingVerdict kDiffering[] = {
    {"kubectl turns YAML into JSON by its own rules, and sends 443",
     {"Backend port-is-written-as-a-fraction", "Backend port-is-written-in-hexadecimal"}},
    {"the API server drops members of a map that are null", {"Backend tls-options-of-null"}},
    {"what may be a text or a map has no type in the schema, and such a value may be null",
     {"PayloadProcessingPipeline in-remove-null"}},
    {"what may be a check or a list of checks has no type in the schema, which then keeps unknown fields",
     {"TrafficPolicy check-of-a-list-with-an-unknown-field", "TrafficPolicy check-with-an-unknown-field"}},
    {"the schema bounds texts in characters; a rule on the bytes of any number of options would cost too much",
     {"Backend tls-options-too-many-bytes"}},
    {"config belongs to the type of a use and has any fields, so the schema cannot look into that of backendRefs",
     {"PayloadProcessingPipeline remote-config-contradicts-failure-mode",
      "PayloadProcessingPipeline remote-config-contradicts-itself",
      "PayloadProcessingPipeline remote-config-contradicts-timeout",
      "PayloadProcessingPipeline remote-config-of-a-wrong-context",
      "PayloadProcessingPipeline remote-config-of-a-wrong-mode",
      "PayloadProcessingPipeline remote-config-of-a-wrong-timeout",
      "PayloadProcessingPipeline remote-config-of-an-unknown-field",
      "PayloadProcessingPipeline remote-context-in-both-places"}},
};

/// Returns the objects of all files of a folder. Each document begins in the same way, so that no YAML is parsed here.
ObjectNames objectsIn(const std::string& folder) {
  static const std::regex head(
      R"re(^apiVersion: sluice\.dev/v1alpha1\nkind: (\w+)\nmetadata: \{name: ([a-z0-9-]+)\}$)re",
      std::regex::ECMAScript | std::regex::multiline);
  static const std::regex begin("^apiVersion:", std::regex::ECMAScript | std::regex::multiline);
  ObjectNames names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = readFile(entry.path().string());
    std::ptrdiff_t found = 0;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), head); match != std::sregex_iterator(); ++match) {
      ++found;
      const std::string name = (*match)[1].str() + " " + (*match)[2].str();
      EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    }
    EXPECT_EQ(found, std::distance(std::sregex_iterator(text.begin(), text.end(), begin), std::sregex_iterator()))
        << entry.path() << " has documents that begin in another way";
  }
  return names;
}

/// Returns the objects in which `sluice validate` finds no fault of their own: all that it lists, except those that are
/// not Accepted, or PartiallyInvalid, for the reason Invalid. Faults of references to other objects are ignored.
ObjectNames acceptedBySluice() {
  const ProgramOutcome outcome = sluice({"validate", kObjects + "/valid", kObjects + "/invalid"});
  static const std::regex heading(R"re((\w+) default/(\S+) \(sluice\.dev\))re");
  static const std::regex refusal(R"re(\s.*(?:Accepted\s+False|PartiallyInvalid\s+True)\s+Invalid\b.*)re");
  ObjectNames names;
  std::string name;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) {
      name = match[1].str() + " " + match[2].str();
      names.insert(name);
    } else if (std::regex_match(line, refusal)) {
      names.erase(name);
    }
  }
  // A kind without a status is not listed, but its errors are.
  for (const char* folder : {"/valid", "/invalid"}) {
    for (const std::string& object : objectsIn(kObjects + folder)) {
      if (!object.starts_with("GatewayParameters ")) continue;
      const std::string error = "error: GatewayParameters default/" + object.substr(object.find(' ') + 1) + ": ";
      if ((outcome.output + outcome.errors).find(error) == std::string::npos) names.insert(object);
    }
  }
  return names;
}

std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Returns the objects that an API server would store. `all` are the objects that are sent.
ObjectNames acceptedByApi(const Kubectl& kubectl, const ObjectNames& all) {
  const ProgramOutcome outcome = kubectl.run({"create", "--dry-run=server", "--validate=strict", "-o", "name", "-f",
                                              kObjects + "/valid", "-f", kObjects + "/invalid"});
  ObjectNames names;
  for (const std::string& name : all) {
    const std::size_t blank = name.find(' ');
    std::string kind = name.substr(0, blank);
    std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string line = "\n" + kind + ".sluice.dev/" + name.substr(blank + 1) + "\n";
    if (("\n" + outcome.output).find(line) != std::string::npos) names.insert(name);
  }
  const std::size_t refusals =
      countOf(outcome.errors, "Error from server (Invalid): ") + countOf(outcome.errors, "\" cannot be handled as a ");
  EXPECT_EQ(refusals, all.size() - names.size()) << "refused by something else than the schema:\n" << outcome.errors;
  return names;
}

class Crds : public KubernetesTest {
 protected:
  void SetUp() override {
    KubernetesTest::SetUp();
    if (IsSkipped()) return;
    server_ = std::make_unique<KubeApiServer>();
    kubectl_ = std::make_unique<Kubectl>(server_->kubeconfig());
    kubectl_->expect({"apply", "--server-side", "-k", kDefinitions});
    kubectl_->expect({"wait", "--for=condition=Established", "--timeout=100s", "crd", "--all"});
  }
  const Kubectl& kubectl() const { return *kubectl_; }

 private:
  std::unique_ptr<KubeApiServer> server_;
  std::unique_ptr<Kubectl> kubectl_;
};

TEST_F(Crds, GiveTheVerdictOfSluiceValidateOnEveryObject) {
  const ObjectNames valid = objectsIn(kObjects + "/valid");
  const ObjectNames invalid = objectsIn(kObjects + "/invalid");
  ObjectNames all = valid;
  all.insert(invalid.begin(), invalid.end());
  ASSERT_EQ(all.size(), valid.size() + invalid.size()) << "a name is in both folders";
  std::map<std::string, const char*> differing;
  for (const DifferingVerdict& each : kDiffering) {
    for (const std::string& name : each.objects) differing.emplace(name, each.reason);
  }
  const ObjectNames bySluice = acceptedBySluice();
  const ObjectNames byApi = acceptedByApi(kubectl(), all);
  for (const std::string& name : all) {
    EXPECT_EQ(bySluice.count(name), valid.count(name)) << name << ": sluice validate disagrees with the folder";
    const auto expected = differing.find(name);
    const bool differs = bySluice.count(name) != byApi.count(name);
    EXPECT_EQ(differs, expected != differing.end())
        << name << ": " << (differs ? "the API server disagrees" : expected->second);
    if (expected != differing.end()) differing.erase(expected);
  }
  for (const auto& [name, reason] : differing) ADD_FAILURE() << name << " does not exist; " << reason;
}

/// Returns the documents of sluice.dev among those of a text.
std::vector<std::string> ownDocumentsOf(const std::string& text) {
  std::vector<std::string> documents;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n---\n", begin), text.size());
    std::string document = text.substr(begin, end - begin) + "\n";
    if (("\n" + document).find("\napiVersion: sluice.dev/") != std::string::npos) documents.push_back(document);
    begin = end + 5;
  }
  return documents;
}

TEST_F(Crds, AcceptTheExamples) {
  std::vector<std::string> documents;
  const auto add = [&](const std::string& text) {
    for (std::string& document : ownDocumentsOf(text)) documents.push_back(std::move(document));
  };
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SLUICE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() == ".yaml") add(readFile(entry.path().string()));
  }
  for (const char* page : {"backends.md", "processors.md", "processor-types.md"}) {
    for (const std::string& block : yamlBlocks(referencePage(page))) add(block);
  }
  EXPECT_GT(documents.size(), 6u);
  std::string all;
  for (const std::string& document : documents) all += document + "---\n";
  const TempDir folder;
  kubectl().expect({"create", "namespace", "demo"});
  const std::string accepted = kubectl().expect(
      {"create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", folder.write("examples.yaml", all)});
  EXPECT_EQ(countOf(accepted, ".sluice.dev/"), documents.size());
}

TEST_F(Crds, KeepTheStatusAndShowIt) {
  const TempDir folder;
  const std::string condition =
      R"({type: Accepted, status: "True", reason: Accepted, message: "", observedGeneration: 1, )"
      R"(lastTransitionTime: "2026-01-31T23:59:59Z"})";
  const std::string objects = folder.write("objects.yaml", R"(
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {name: origin, namespace: default}
spec: {destination: {type: Fqdn, fqdn: {hostname: api.example.com, port: 443}}}
status:
  controllers: [{name: sluice.dev/egress-gateway, conditions: [)" +
                                                               condition + R"(]}]
---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {name: router, namespace: default}
spec: {targetRef: {kind: Gateway, name: egress}, phase: PreRouting, processors: [{name: a, type: "a.b/K:v1"}]}
status:
  ancestors:
    - ancestorRef: {group: gateway.networking.k8s.io, kind: Gateway, namespace: default, name: egress, sectionName: http}
      controllerName: sluice.dev/egress-gateway
      conditions: [)" + condition + R"(]
---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessingPipeline
metadata: {name: tidy, namespace: default}
spec: {processors: [{name: a, type: "a.b/K:v1"}]}
status: {conditions: [)" + condition + "]}\n");
  kubectl().expect({"create", "--validate=strict", "-f", objects});
  EXPECT_THAT(kubectl().get("sbe", "default", "origin", "{.status}"), IsEmpty()) << "the gateway alone writes it";
  kubectl().expect({"apply", "--server-side", "--subresource=status", "--validate=strict", "-f", objects});
  const std::string columns = std::regex_replace(kubectl().expect({"get", "sluice"}), std::regex(" +"), " ");
  EXPECT_THAT(columns,
              HasSubstr("NAME HOSTNAME ACCEPTED PROGRAMMED AGE\nbackend.sluice.dev/origin api.example.com True "));
  EXPECT_THAT(columns, HasSubstr("payloadprocessor.sluice.dev/router Gateway egress PreRouting True "));
  EXPECT_THAT(columns, HasSubstr("payloadprocessingpipeline.sluice.dev/tidy True "));
  for (const auto& [kind, name] : {std::pair{"sbe", "origin"}, {"spp", "router"}, {"sppl", "tidy"}}) {
    EXPECT_THAT(kubectl().get(kind, "default", name, "{.status}"), HasSubstr("\"lastTransitionTime\"")) << kind;
  }
}

}  // namespace
}  // namespace sluice::test
