// Tests the conversion of other spellings: nothing is lost without a comment.
#include "config/convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/yaml/yaml_reader.h"
#include "test/config/convert/converted.h"
#include "test/config/convert/described_models.h"
#include "test/config/file_text.h"
#include "test/config/test_support.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kUnconverted =
    "# a comment\n"
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, resourceVersion: '7'}\n"
    "spec: {gatewayClassName: c, listeners: [{name: web, protocol: HTTP, port: 80}]}\nstatus: {addresses: []}\n---\n"
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: \"a\\n# b\"}\n---\n"
    "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {name: b}\n"
    "spec: {destination: {type: Fqdn, fqdn: {hostname: a.test, port: 80}}}\n---\n"
    "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: x}\n"
    "spec: {ref: {group: gateway.envoyproxy.io, kind: Backend, name: b}, count: 1.50, on: true}\n";

TEST(Convert, PassesOtherObjectsUnchanged) {
  const ConvertedTexts converted = convertText(kUnconverted);
  EXPECT_TRUE(converted.complete);
  EXPECT_THAT(commentsIn(converted.text), IsEmpty());
  Problems problems;
  const std::vector<Document> before = readYaml(kUnconverted, {}, problems);
  const std::vector<Document> after = readYaml(converted.text, {}, problems);
  EXPECT_THAT(rendered(problems), IsEmpty());
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(writeYaml(after[i].root), writeYaml(before[i].root));
}

const std::string kSpellings[] = {
    object("gateway.networking.k8s.io/v1alpha1", "Backend", "b",
           "spec: {destination: {type: FQDN, fqdn: {hostname: A.test, port: 443}}, tls: {mode: Terminate, sni: B.test, "
           "caBundleRef: {name: ca}, subjectAltNames: [a.test, 'spiffe://a/b']}}\n"),
    object("gateway.networking.k8s.io/v1alpha1", "Backend", "b",
           "spec: {destination: {type: KubernetesService, service: {name: s, namespace: n}, ports: [{number: 80}, "
           "{number: 81, protocol: HTTP2, tls: {mode: Mutual, clientCertificateRef: {name: k}}}]}, extensions: [{name: "
           "m, type: sluice.dev/HeaderModifier:v1, phase: request-headers, priority: -3, preAuth: true, timeout: 1s, "
           "config: {remove: [x-a]}, fallback: {response: {status: 502}}}]}\n"),
    object("ainetworking.prototype.x-k8s.io/v0alpha0", "Backend", "b",
           "spec: {destination: {type: Ip, ip: {address: '2001:DB8::1'}, ports: [{number: 443, protocol: MCP}]}}\n"),
    object("ainetworking.prototype.x-k8s.io/v0alpha0", "XBackendDestination", "b",
           "spec: {destination: {type: Fqdn, fqdn: {hostname: '*.a.test'}, ports: [{number: 443, protocol: TLS}]}}\n"),
    object("gateway.networking.x-k8s.io/v1alpha1", "XBackend", "b",
           "spec: {type: ExternalHostname, externalHostname: {hostname: a.test}, port: {port: 443}, protocol: HTTP2, "
           "tls: {mode: ClientAndServer, clientCertificateRef: {name: k}, validation: {hostname: a.test, "
           "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}}\n"),
    object("gateway.envoyproxy.io/v1alpha1", "Backend", "b",
           "spec: {endpoints: [{fqdn: {hostname: a.test, port: 80}}, {ip: {address: 192.0.2.1, port: 81}}], "
           "appProtocols: [gateway.envoyproxy.io/h2c], tls: {insecureSkipVerify: true}}\n")};

TEST(Convert, WritesEverySpellingOfABackendInOurs) {
  for (const std::string& text : kSpellings) {
    const Configuration before = loadText(text);
    ASSERT_EQ(before.model.all<Backend>().size(), 1u) << text;
    const Model after = convertedModel(text);
    const auto* backend = after.find<Backend>(kOwnGroup, Backend::kKind, "default", "b");
    ASSERT_NE(backend, nullptr) << text;
    EXPECT_EQ(described(*backend), described(before.model.all<Backend>().front())) << text;
  }
}

TEST(Convert, WritesEverySpellingOfAProcessorInOurs) {
  constexpr const char* kTarget = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, ";
  const std::string texts[] = {
      object("gateway.networking.k8s.io/v1alpha1", "PayloadProcessor", "p",
             "spec: {" + std::string(kTarget) +
                 "phase: PreRouting, processors: [{name: a, type: InProcess, failureMode: FailOpen, inProcess: "
                 "{request: {setHeaders: [{name: x-a, value: '\"b\"'}]}}}]}\n"),
      object("gateway.networking.k8s.io/v1alpha1", "PayloadProcessor", "p",
             "spec: {" + std::string(kTarget) + "processors: [{name: a, backendRefs: [{name: s, port: 1}]}]}\n"),
      object("ainetworking.x-k8s.io/v0alpha0", "PayloadProcessor", "p",
             "spec: {" + std::string(kTarget) +
                 "processors: [{name: a, type: ExtProcess, timeout: 1s, extProcess: {backendRef: {name: s, port: "
                 "1}}}, {name: b, type: InProcess, inProcess: {response: {set: [{name: x, value: '1'}]}}}]}\n")};
  for (const std::string& text : texts) {
    const Configuration before = loadText(text);
    ASSERT_EQ(before.model.all<PayloadProcessor>().size(), 1u) << firstError(before.problems);
    const Model after = convertedModel(text);
    const auto* processor = after.find<PayloadProcessor>(kOwnGroup, PayloadProcessor::kKind, "default", "p");
    ASSERT_NE(processor, nullptr) << text;
    EXPECT_EQ(described(*processor), described(before.model.all<PayloadProcessor>().front())) << text;
  }
}

constexpr const char* kGuardPolicy =
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], extProc: [{backendRefs: "
    "[{name: guard, port: 9002}], failOpen: true, processingMode: {request: {body: Buffered}}}]}\n";

TEST(Convert, WritesOtherKindsOfProcessorsAsOurs) {
  const std::string policy = object("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "p", kGuardPolicy);
  const Configuration before = loadText(policy);
  const Model after = convertedModel(policy);
  ASSERT_EQ(after.all<PayloadProcessor>().size(), 1u);
  EXPECT_EQ(described(after.all<PayloadProcessor>().front().processors),
            described(before.model.all<ExtensionPolicy>().front().processors));
  EXPECT_EQ(after.all<PayloadProcessor>().front().targets.front().object.name, "r");

  const std::string server =
      object("ainetworking.prototype.x-k8s.io/v0alpha0", "XPayloadProcessor", "x",
             "spec: {backendRef: {name: guard, port: 1}, failureMode: Closed}\n") +
      "---\n" +
      object("gateway.networking.k8s.io/v1alpha1", "PayloadProcessingPipeline", "y",
             "spec: {processors: [{name: a, type: sluice.dev/HeaderModifier:v1, config: {remove: [x-a]}}]}\n");
  const Configuration servers = loadText(server);
  const Model pipelines = convertedModel(server);
  ASSERT_EQ(pipelines.all<PayloadProcessingPipeline>().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& pipeline = pipelines.all<PayloadProcessingPipeline>()[i];
    EXPECT_EQ(pipeline.meta.group, kOwnGroup);
    EXPECT_EQ(described(pipeline.processors), described(servers.model.all<PayloadProcessingPipeline>()[i].processors));
  }
}

TEST(Convert, KeepsTheTimeOfAnObjectButNoneOfTheServersMembers) {
  const ConvertedTexts converted = convertText(
      "apiVersion: ainetworking.prototype.x-k8s.io/v0alpha0\nkind: EgressGateway\n"
      "metadata: {name: g, namespace: n, uid: u1, resourceVersion: '7', generation: 3, labels: {a: b}, "
      "creationTimestamp: '2026-01-31T23:59:59Z'}\n"
      "spec: {gatewayClassName: c, listeners: [{name: web, protocol: HTTP, port: 80}]}\nstatus: {conditions: []}\n");
  EXPECT_TRUE(converted.complete);
  const Model model = loadText(converted.text).model;
  const auto* gateway = model.find<Gateway>(kGatewayGroup, Gateway::kKind, "n", "g");
  ASSERT_NE(gateway, nullptr) << converted.text;
  EXPECT_EQ(gateway->meta.creationTimestamp, "2026-01-31T23:59:59");
  EXPECT_EQ(gateway->meta.labels.at("a"), "b");
  for (const char* lost : {"uid", "resourceVersion", "generation", "status"}) {
    EXPECT_THAT(converted.text, Not(HasSubstr(lost)));
  }
}

/// A policy with fields of which one is supported.
std::string policyWith(const std::string& fields, const std::string& name = "p") {
  return object("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", name,
                "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}], " + fields + "}\n");
}

TEST(Convert, NamesEachFieldThatIsLost) {
  const ConvertedTexts converted =
      convertText(policyWith("retry: {numRetries: 3}, rateLimit: {type: Local}, mergeType: JSONMerge, telemetry: {}"));
  EXPECT_FALSE(converted.complete);
  EXPECT_THAT(converted.text, StartsWith("---\n# BackendTrafficPolicy default/p\n# not converted: "));
  EXPECT_THAT(commentsIn(converted.text),
              ::testing::UnorderedElementsAre(
                  "# BackendTrafficPolicy default/p",
                  "# not converted: spec.rateLimit: rateLimit is not supported; its requests got 500, and are served "
                  "now",
                  "# not converted: spec.telemetry: telemetry is not supported",
                  StartsWith("# not converted: spec.mergeType: each field is taken as a whole")));
  const Configuration loaded = loadText(converted.text);
  EXPECT_EQ(firstError(loaded.problems), "");
  ASSERT_EQ(loaded.model.all<TrafficPolicy>().size(), 1u);
  const TrafficPolicy& policy = loaded.model.all<TrafficPolicy>().front();
  EXPECT_EQ(policy.meta.kind, TrafficPolicy::kKind);
  EXPECT_EQ(policy.retry->attempts, 3u);
  EXPECT_THAT(policy.unsupported, IsEmpty());
}

TEST(Convert, SaysNothingOfOpeningWhereOursIsClosedToo) {
  const ConvertedTexts converted =
      convertText(object("gateway.networking.k8s.io/v1alpha1", "PayloadProcessor", "p",
                         "spec: {targetRefs: [{kind: ListenerSet, name: l}], processors: [{name: a, type: "
                         "sluice.dev/HeaderModifier:v1, config: {remove: [x-a]}}]}\n"));
  EXPECT_THAT(commentsIn(converted.text),
              ElementsAre("# PayloadProcessor default/p",
                          "# not converted: spec.targetRefs[0].kind: kind ListenerSet is not supported"));
  EXPECT_THAT(converted.text, HasSubstr("sluice.dev/v1alpha1"));
}

struct StayingObject {
  std::string text;
  const char* comment;  // the beginning of one of its comments
};

TEST(Convert, KeepsWhatHasNoCounterpart) {
  const std::string selector = "targetSelectors: [{kind: HTTPRoute, matchLabels: {a: b}}]";
  const StayingObject objects[] = {
      {object("gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", "p",
              "spec: {targetRefs: [{group: '', kind: Service, name: s}], retryConstraint: {budget: {percent: 5}}}\n"),
       "# not converted: spec.retryConstraint: "},
      {object("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy", "p",
              "spec: {" + selector + ", retry: {numRetries: 1}}\n"),
       "# not converted: spec.targetSelectors: targets cannot be selected by labels: the object stays as it is"},
      {policyWith("rateLimit: {type: Local}"), "# not converted: spec.rateLimit: rateLimit is not supported"},
      {policyWith("retry: {numRetries: 1}, unheardOf: 1"), "# not converted: spec.unheardOf: "},
      {policyWith("healthCheck: {passive: {consecutive5XxErrors: 2000}}"),
       "# not converted: spec.healthCheck.passive.consecutive5XxErrors: "},
      {object("gateway.envoyproxy.io/v1alpha1", "Backend", "b", "spec: {type: DynamicResolver}\n"),
       "# not converted: spec.type: a Backend whose destinations requests name must list their hostnames"},
      {object("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "c",
              "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]}\n"),
       "# not converted: kind: there is no counterpart of this kind: the object stays as it is"},
      {object("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "e", "spec: {}\n"), "# not converted: kind: "},
  };
  for (const StayingObject& each : objects) {
    const ConvertedTexts converted = convertText(each.text);
    EXPECT_FALSE(converted.complete);
    EXPECT_THAT(commentsIn(converted.text), ::testing::Contains(StartsWith(each.comment)));
    EXPECT_THAT(converted.text, Not(HasSubstr("served now"))) << "it closes what it closed before";
    Problems problems;
    EXPECT_EQ(writeYaml(readYaml(converted.text, {}, problems).front().root),
              writeYaml(readYaml(each.text, {}, problems).front().root));
  }
}

TEST(Convert, KeepsObjectsWhoseNameIsTaken) {
  const std::string own = object("sluice.dev/v1alpha1", "Backend", "b",
                                 "spec: {destination: {type: Fqdn, fqdn: {hostname: a.test, port: 80}}}\n");
  const std::string reference =
      object("gateway.networking.k8s.io/v1", "HTTPRoute", "r",
             "spec: {rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: b}]}]}\n");
  const ConvertedTexts converted = convertText(kSpellings[5] + "---\n" + reference + "---\n" + own);
  EXPECT_THAT(commentsIn(converted.text),
              ElementsAre("# Backend default/b",
                          "# not converted: metadata.name: another Backend would have the same name: the object stays "
                          "as it is"));
  const Model model = loadText(converted.text).model;
  EXPECT_NE(model.find<Backend>(kEnvoyGroup, Backend::kKind, "default", "b"), nullptr);
  EXPECT_EQ(model.all<HttpRoute>().front().rules.front().backendRefs.front().object.group, kEnvoyGroup);
  const ConvertedTexts two = convertText(kSpellings[5] + "---\n" + kSpellings[4]);
  EXPECT_THAT(commentsIn(two.text), ::testing::Contains("# XBackend default/b")) << "the first one gets the name";
  const ConvertedTexts twice = convertText(kSpellings[5] + "---\n" + kSpellings[5]);
  EXPECT_TRUE(twice.complete) << "an object that is defined twice is still defined twice";
}

TEST(Convert, KeepsExtensionPoliciesOfWhichOnlyOneApplies) {
  const std::string one = object("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "p", kGuardPolicy);
  const std::string other = object("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy", "q", kGuardPolicy);
  const ConvertedTexts converted = convertText(one + "---\n" + other);
  EXPECT_EQ(loadText(converted.text).model.all<ExtensionPolicy>().size(), 2u);
  EXPECT_THAT(commentsIn(converted.text), ::testing::Contains(HasSubstr("another EnvoyExtensionPolicy")).Times(2));
}

TEST(Convert, TakesTheItemsOfAList) {
  const Model model = convertedModel(
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: gateway.envoyproxy.io/v1alpha1\n  kind: Backend\n  metadata: "
      "{name: b}\n  spec: {endpoints: [{fqdn: {hostname: a.test, port: 80}}]}\n- {apiVersion: v1, kind: Namespace, "
      "metadata: {name: n}}\n");
  EXPECT_NE(model.find<Backend>(kOwnGroup, Backend::kKind, "default", "b"), nullptr);
  EXPECT_EQ(model.all<Namespace>().size(), 1u);
}

TEST(Convert, WritesNothingInACommentThatEndsIt) {
  const ConvertedTexts converted = convertText(policyWith("\"a\\nkind: Secret\\u2028\": 1"));
  EXPECT_FALSE(converted.complete);
  for (const std::string& line : commentsIn(converted.text)) EXPECT_THAT(line, Not(HasSubstr("\xe2\x80\xa8")));
  Problems problems;
  const std::vector<Document> documents = readYaml(converted.text, {}, problems);
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents.front().root.members.size(), 4u) << converted.text;
}

TEST(Convert, PrintsNothingOfATextThatIsNotYaml) {
  const ConvertedTexts converted = convertText(std::string(kUnconverted) + "---\n{[");
  EXPECT_TRUE(hasErrors(converted.problems));
  EXPECT_EQ(converted.text, "");
}

/// Returns all examples that users read, and the objects of Envoy Gateway's documentation.
std::vector<std::string> publicTexts() {
  std::vector<std::string> texts;
  for (const char* folder : {"examples", "test/compile/policies/envoy_gateway"}) {
    const std::filesystem::path path = std::filesystem::path(SLUICE_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".yaml") texts.push_back(fileText(entry.path()));
    }
  }
  const std::filesystem::path pages = SLUICE_SOURCE_DIR "/config/reference";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(pages)) {
    if (!entry.is_regular_file()) continue;
    for (std::string& block : test::yamlBlocks(fileText(entry.path()))) texts.push_back(std::move(block));
  }
  return texts;
}

TEST(Convert, ChangesNothingTheSecondTime) {
  const std::vector<std::string> texts = publicTexts();
  EXPECT_GT(texts.size(), 100u);
  std::size_t changed = 0;
  for (const std::string& text : texts) {
    const ConvertedTexts once = convertText(text);
    ASSERT_THAT(rendered(once.problems), IsEmpty()) << text;
    if (once.text.find("sluice.dev/v1alpha1") != std::string::npos) ++changed;
    EXPECT_EQ(linesOf(convertText(once.text).text, false), linesOf(once.text, false)) << text;
    EXPECT_EQ(loadText(once.text).problems.size(), loadText(text).problems.size()) << once.text;
  }
  EXPECT_GT(changed, 40u);
}

}  // namespace
}  // namespace sluice::config
