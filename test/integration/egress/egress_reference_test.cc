// Tests that each policy of config/reference/egress-policy.md does what its title says, through the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

/// Returns the policy under a title of the page, for the Gateway of the tests, with texts in place of others.
std::string policyUnder(const std::string& title, const std::vector<std::pair<std::string, std::string>>& changes) {
  const std::string page = readFile(SLUICE_SOURCE_DIR "/config/reference/egress-policy.md");
  const std::string fence = "```yaml\n";
  const std::size_t section = page.find("\n### " + title + "\n");
  const std::size_t begin = page.find(fence, section);
  const std::size_t end = page.find("```\n", begin + fence.size());
  EXPECT_TRUE(section < begin && begin < end && end != std::string::npos) << title;
  if (section == std::string::npos || end == std::string::npos) return {};
  std::string policy = "---\n" + page.substr(begin + fence.size(), end - begin - fence.size());
  std::vector<std::pair<std::string, std::string>> all = {{"namespace: demo", "namespace: test"}};
  all.insert(all.end(), changes.begin(), changes.end());
  for (const auto& [from, to] : all) {
    const std::size_t at = policy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) policy.replace(at, from.size(), to);
  }
  return policy;
}

struct ReferenceRequest {
  std::string method;
  std::string path;  // its first part names the Backend
  bool passes;
};

struct ReferencePolicy {
  std::string title;
  std::vector<std::pair<std::string, std::string>> changes;
  std::vector<ReferenceRequest> requests;
};

/// Backends of well-known names, at which nobody listens: a request that passes gets another error than 403.
GatewaySpec worldOf(const std::string& policy) {
  static const CertifiedKey kAuthority = makeAuthority();
  GatewaySpec spec;
  spec.backends = {{.name = "openai", .hostname = "api.openai.com", .port = 443, .ca = kAuthority.certificate},
                   {.name = "google", .hostname = "storage.googleapis.com", .port = 443},
                   {.name = "paste", .hostname = "www.pastebin.com", .port = 8042},
                   {.name = "europe", .hostname = "europe.example.com", .port = 9, .addresses = "127.0.0.1, 127.0.0.3"},
                   {.name = "inside", .hostname = "database.example.net", .port = 9000}};
  std::string rules;
  for (const BackendSpec& each : spec.backends) rules += ruleOfPrefix("/" + each.name, each.name);
  rules += ruleOfPrefix("/v1", "openai");
  spec.routes = routeOfRules(rules) + policy;
  return spec;
}

const std::vector<ReferencePolicy>& referencePolicies() {
  static const std::vector<ReferencePolicy> kPolicies = {
      {"Only these providers",
       {},
       {{"GET", "/openai", true}, {"POST", "/google", true}, {"GET", "/paste", false}, {"GET", "/inside", false}}},
      {"Nothing without encryption", {}, {{"GET", "/openai", true}, {"GET", "/google", false}}},
      {"Only the networks of a region",
       {{"203.0.113.0/24", "127.0.0.3/32"}},
       {{"GET", "/europe", true}, {"GET", "/openai", false}}},
      {"Nothing but reading",
       {},
       {{"GET", "/openai", true}, {"HEAD", "/paste", true}, {"POST", "/openai", false}, {"get", "/openai", false}}},
      {"A block-list", {}, {{"GET", "/paste", false}, {"GET", "/openai", true}}},
      {"Audit first", {}, {{"GET", "/openai", true}, {"GET", "/paste", true}}},
      {"Some clients may do more",
       {{"10.20.0.0/16", "127.0.0.0/8"}},
       {{"GET", "/openai", true}, {"POST", "/openai", true}}},
      {"Some clients may do more", {}, {{"GET", "/openai", true}, {"POST", "/openai", false}}},
      {"A part of an API",
       {},
       {{"POST", "/v1/chat/completions", true}, {"GET", "/v1/models/1", true}, {"GET", "/v1/files", false}}},
      {"Not into the cluster",
       {{"\"*.svc\"", "\"*.example.net\""}},
       {{"GET", "/inside", false}, {"GET", "/openai", true}}},
      {"Only usual ports", {}, {{"GET", "/openai", true}, {"GET", "/paste", true}, {"GET", "/inside", false}}},
  };
  return kPolicies;
}

TEST(EgressReference, HasPoliciesThatDoWhatTheirTitlesSay) {
  for (const ReferencePolicy& each : referencePolicies()) {
    SCOPED_TRACE(each.title);
    const GatewayProcess gateway(worldOf(policyUnder(each.title, each.changes)));
    for (const ReferenceRequest& request : each.requests) {
      const int status = askRaw(gateway.port(), request.method + " " + request.path + " HTTP/1.1\r\nHost: a\r\n\r\n",
                                request.method == "HEAD")
                             .status;
      EXPECT_EQ(status != 403, request.passes) << request.method << " " << request.path << ": " << status;
      EXPECT_NE(status, 500);
      EXPECT_NE(status, 404);
    }
  }
}

TEST(EgressReference, HasATestForEachPolicy) {
  const std::string page = readFile(SLUICE_SOURCE_DIR "/config/reference/egress-policy.md");
  std::size_t policies = 0;
  for (std::size_t at = page.find("\n### "); at != std::string::npos; at = page.find("\n### ", at + 1)) {
    const std::string title = page.substr(at + 5, page.find('\n', at + 5) - at - 5);
    ++policies;
    EXPECT_TRUE(std::any_of(referencePolicies().begin(), referencePolicies().end(), [&](const ReferencePolicy& each) {
      return each.title == title;
    })) << title;
  }
  EXPECT_EQ(policies, 10U);
}

}  // namespace
}  // namespace sluice::test
