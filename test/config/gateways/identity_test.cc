// Tests the reader of `identity`, in settings.yaml and in GatewayParameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/read/gateways/identity_reader.h"
#include "config/read/gateways/settings_reader.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns the identity of settings with that text, which begins on line 10 of the file of its ConfigMap.
std::optional<base::IdentityTerms> identityOfSettings(const std::string& text, std::vector<std::string>* faults) {
  Problems problems;
  ConfigMap::DataEntry entry;
  entry.value = text;
  entry.position.line = 10;
  entry.blockColumn = 5;
  const std::optional<base::Settings> settings = readSettings(entry, "ConfigMap a/b", problems);
  if (faults != nullptr) *faults = rendered(problems);
  return settings ? std::optional(settings->identity) : std::nullopt;
}

std::vector<std::string> faultsOfIdentity(const std::string& fields) {
  std::vector<std::string> faults;
  EXPECT_FALSE(identityOfSettings("identity: {" + fields + "}", &faults)) << fields << ": nothing is served by it";
  return faults;
}

Configuration loadParametersWith(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "GatewayParameters", "p", "spec: {" + spec + "}\n"));
}

base::IdentityTerms everyTerm() {
  base::IdentityTerms terms;
  terms.clientCertificate = {{"cluster.local", "prod_1.example-2.com"}};
  terms.forwardHeader = "x-caller";
  return terms;
}
constexpr const char* kEveryTerm =
    "sources: [{type: ClientCertificate, trustDomains: [cluster.local, prod_1.example-2.com]}], forward: {header: "
    "X-Caller}";

TEST(Identity, IsReadFromTheSettings) {
  std::vector<std::string> faults;
  EXPECT_EQ(identityOfSettings("identity: {" + std::string(kEveryTerm) + "}", &faults), everyTerm());
  EXPECT_THAT(faults, IsEmpty());
}

TEST(Identity, IsReadFromGatewayParameters) {
  const Configuration configuration = loadParametersWith("identity: {" + std::string(kEveryTerm) + "}");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  EXPECT_EQ(configuration.model.all<GatewayParameters>().at(0).identity, everyTerm());
}

TEST(Identity, IsNothingIfItIsAbsent) {
  EXPECT_EQ(identityOfSettings("workers: 1", nullptr), base::IdentityTerms());
  EXPECT_EQ(identityOfSettings("identity: {sources: [], forward: {header: \"\"}}", nullptr), base::IdentityTerms());
  EXPECT_FALSE(loadParametersWith("replicas: 1").model.all<GatewayParameters>().at(0).identity);
  EXPECT_EQ(loadParametersWith("identity: {}").model.all<GatewayParameters>().at(0).identity, base::IdentityTerms())
      << "a Gateway may do without the sources of its class";
}

TEST(Identity, ByCertificatesNeedsNoTrustDomains) {
  const auto terms = identityOfSettings("identity: {sources: [{type: ClientCertificate}]}", nullptr);
  ASSERT_TRUE(terms && terms->clientCertificate);
  EXPECT_THAT(terms->clientCertificate->trustDomains, IsEmpty());
}

TEST(Identity, ByOtherSourcesIsNotSupported) {
  for (const char* type : {"ServiceAccountToken", "PodAddress"}) {
    // Their own fields are no further faults.
    const std::string sources =
        "sources: [{type: ClientCertificate}, {type: " + std::string(type) + ", audiences: [a], namespaces: [a]}]";
    const std::string message = "sources[1].type: identity by " + std::string(type) + " is not supported";
    EXPECT_THAT(faultsOfIdentity(sources), ElementsAre(EndsWith("identity." + message)));
    EXPECT_THAT(rendered(loadParametersWith("identity: {" + sources + "}").problems),
                ElementsAre(EndsWith("spec.identity." + message)));
  }
  EXPECT_THAT(faultsOfIdentity("trustedForwarders: []"),
              ElementsAre(EndsWith("identity.trustedForwarders: identity by what another gateway forwards is not "
                                   "supported")));
  EXPECT_THAT(rendered(loadParametersWith("identity: {trustedForwarders: [a]}").problems),
              ElementsAre(HasSubstr("spec.identity.trustedForwarders: unknown field")));
}

TEST(Identity, SaysWhatIsWrongWithIt) {
  const std::pair<std::string, std::string> wrong[] = {
      {"sources: {}", "sources: must be a list, but is a map"},
      {"sources: [{}]", "sources[0].type: is required"},
      {"sources: [{type: clientCertificate}]",
       "sources[0].type: must be ClientCertificate, ServiceAccountToken or PodAddress"},
      {"sources: [{type: ClientCertificate}, {type: ClientCertificate}]",
       "sources[1].type: repeats ClientCertificate, of which there may be one"},
      {"sources: [{type: ClientCertificate, trustDomain: [a]}]",
       "sources[0].trustDomain: unknown field: did you mean trustDomains?"},
      {"sources: [{type: ClientCertificate, trustDomains: [a, Cluster.local]}]",
       "sources[0].trustDomains[1]: must be a trust domain like cluster.local, but is \"Cluster.local\""},
      {"sources: [{type: ClientCertificate, trustDomains: ['spiffe://a']}]",
       "sources[0].trustDomains[0]: must be a trust domain like cluster.local"},
      {"sources: [{type: ClientCertificate, trustDomains: [\"\"]}]", "sources[0].trustDomains[0]: must not be empty"},
      {"sources: [{type: ClientCertificate, trustDomains: [" + std::string(256, 'a') + "]}]",
       "sources[0].trustDomains[0]: is longer than 255 bytes"},
      {"forward: {header: x caller}", "forward.header: must be a header name, or empty for none"},
      {"forward: {field: x-caller}", "forward.field: unknown field"},
      {"forwarded: {}", "forwarded: unknown field: did you mean forward?"},
  };
  for (const auto& [fields, message] : wrong) {
    EXPECT_THAT(faultsOfIdentity(fields), ElementsAre(HasSubstr("identity." + message))) << fields;
  }
  EXPECT_TRUE(identityOfSettings(
      "identity: {sources: [{type: ClientCertificate, trustDomains: [" + std::string(255, 'a') + "]}]}", nullptr));
}

TEST(Identity, IsForwardedInNoFieldThatHasAnotherMeaning) {
  for (const char* name : {"Connection", "transfer-encoding", "Proxy-Authorization", "Host", "via", "Sluice-Via",
                           "Forwarded", "X-Forwarded-For", "x-real-ip", "Authorization", "Cookie"}) {
    EXPECT_THAT(
        faultsOfIdentity("forward: {header: " + std::string(name) + "}"),
        ElementsAre(AllOf(HasSubstr("identity.forward.header: must not be "), EndsWith(", which has another meaning"))))
        << name;
  }
  EXPECT_THAT(faultsOfIdentity("forward: {header: X-Request-Id}"),
              ElementsAre(EndsWith("identity: forward.header must not be requestId.header, which has the id of the "
                                   "request")));
  EXPECT_TRUE(identityOfSettings("requestId: {header: x-id}\nidentity: {forward: {header: x-request-id}}", nullptr));
}

TEST(Identity, IsReadWithAtMostSixtyFourTrustDomains) {
  const auto domains = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "d" : ", d") + std::to_string(i);
    return "identity: {sources: [{type: ClientCertificate, trustDomains: [" + text + "]}]}";
  };
  EXPECT_TRUE(identityOfSettings(domains(64), nullptr));
  std::vector<std::string> faults;
  EXPECT_FALSE(identityOfSettings(domains(65), &faults));
  EXPECT_THAT(faults, Contains(HasSubstr("trustDomains: has 65 items; at most 64 are allowed")));
}

TEST(Identity, NamesTheLineOfAFault) {
  std::vector<std::string> faults;
  EXPECT_FALSE(identityOfSettings("identity:\n  sources:\n  - type: PodAddress\n", &faults));
  EXPECT_THAT(faults, ElementsAre(testing::StartsWith("13:")));
}

}  // namespace
}  // namespace sluice::config
