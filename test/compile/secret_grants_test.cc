// Tests that a processor reads a Secret of another namespace only if a ReferenceGrant permits it to the kind of the
// object in which the reference is written.
#include <gtest/gtest.h>

#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

constexpr const char* kUse =
    "{name: a, type: 'sluice.dev/Test:v1', phase: request-headers, config: {secret: token, namespace: keys}}";

/// A place where a use can be written. It has the group and kind of the object, and the documents with it.
struct SecretHolder {
  std::string group;
  std::string kind;
  std::vector<std::string> documents;
};

std::string listOfUses(const std::string& group, const std::string& kind, const std::string& spec) {
  return "apiVersion: " + group + "/v1alpha1\nkind: " + kind + "\nmetadata: {name: p}\nspec: {" + spec +
         "processors: [" + kUse + "]}\n";
}

std::string filtered(const std::string& filter) {
  return with(kRoute, "rules: [{", "rules: [{filters: [" + filter + "], ");
}

std::vector<SecretHolder> secretHolders() {
  const std::string api = "gateway.networking.k8s.io";
  const std::string backend = with(kBackend, "spec: {", "spec: {tls: {mode: Terminate}, ");
  const auto extended = with(backend, "spec: {", "spec: {extensions: [" + std::string(kUse) + "], ");
  const std::string route(kRoute);
  std::vector<SecretHolder> all = {
      {api, "Backend", {extended, route}},
      {api,
       "HTTPRoute",
       {backend, filtered("{type: PayloadProcessing, payloadProcessing: [" + std::string(kUse) + "]}")}}};
  for (const std::string& group : {std::string("sluice.dev"), api}) {
    const std::string ref =
        "{type: ExtensionRef, extensionRef: {group: " + group + ", kind: PayloadProcessingPipeline, name: p}}";
    all.push_back({group,
                   "PayloadProcessingPipeline",
                   {backend, filtered(ref), listOfUses(group, "PayloadProcessingPipeline", "")}});
    const std::string toBackend = with(route, "port: 8080}", "port: 8080, filters: [" + ref + "]}");
    all.push_back(
        {group, "PayloadProcessingPipeline", {backend, toBackend, listOfUses(group, "PayloadProcessingPipeline", "")}});
    all.push_back(
        {group,
         "PayloadProcessor",
         {backend, route, listOfUses(group, "PayloadProcessor", "targetRef: {kind: HTTPRoute, name: route}, ")}});
  }
  return all;
}

bool isServed(const SecretHolder& holder, const std::string& group, const std::string& kind) {
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: keys}\n"
      "spec: {from: [{group: " +
      group + ", kind: " + kind + ", namespace: default}], to: [{group: '', kind: Secret}]}\n";
  const std::string secret =
      with(test::secret("token", {{"key", "value"}}), "name: token", "name: token, namespace: keys");
  std::vector<std::string_view> documents = {kClass, kGateway, grant, secret};
  documents.insert(documents.end(), holder.documents.begin(), holder.documents.end());
  return World(documents, nullptr, test::processorTypes()).outcome() == "default/origin";
}

TEST(SecretGrants, AreGivenToTheKindThatTheReferenceIsWrittenIn) {
  const std::vector<SecretHolder> all = secretHolders();
  for (const SecretHolder& holder : all) {
    for (const SecretHolder& granted : all) {
      const bool same = holder.group == granted.group && holder.kind == granted.kind;
      EXPECT_EQ(isServed(holder, granted.group, granted.kind), same)
          << holder.kind << "." << holder.group << " with a grant for " << granted.kind << "." << granted.group;
    }
  }
}

}  // namespace
}  // namespace sluice::compile
