// Tests libraries as payload processors through the binary: the second example of the egress proposal with the library
// of examples/processors/pii-detector, and libraries that cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The proposal's example as it stands there, but for the port.
constexpr const char* kDetectingBackend = R"(---
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata:
  name: no-pii-openai
  namespace: test
spec:
  destination:
    type: FQDN
    fqdn: {hostname: api.openai.com, port: PORT}
  tls:
    mode: Mutual
    sni: api.openai.com
    clientCertificateRef: {name: client-cert}
  extensions:
    - name: pii-detector
      type: acme.example.com/PIIDetector:v1
      phase: request-body
      priority: 20
      failOpen: false
      preAuth: true
      config:
        modelRef: pii-detect-small
        redactionStyle: delete
        confidenceThreshold: 0.7
        maxBodyBytes: 2097152
)";

constexpr const char* kDetectorSchema = R"(
{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "PIIDetector", "type": "object",
 "additionalProperties": false, "required": ["modelRef"],
 "properties": {"modelRef": {"type": "string", "minLength": 1},
   "redactionStyle": {"type": "string", "enum": ["mask", "delete", "hash"], "default": "mask"},
   "confidenceThreshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.6},
   "maxBodyBytes": {"type": "integer", "minimum": 0, "default": 1048576}}}
)";

/// Returns a catalog that gives the proposal's type to that file.
std::string detectorCatalog(const std::string& file) {
  const std::string schemas = "acme-piidetector-v1-schema";
  return configMapOf("catalog",
                     {{"pii.yaml", entryOf("acme.example.com/PIIDetector:v1", "library", "request-body, response-body",
                                           "library: {file: " + file + "}\n", schemas)}},
                     "gateway-system") +
         configMapOf(schemas, {{"schema.json", kDetectorSchema}}, "gateway-system");
}

class Libraries : public testing::Test {
 protected:
  static std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  /// Returns a gateway with the proposal's Backend, whose type the catalog gives to that file.
  GatewaySpec specWith(const std::string& file) {
    GatewaySpec spec;
    spec.backends = {{.name = "plain", .hostname = "api.openai.com", .port = origin_.port(), .ca = root_.certificate}};
    spec.settings = "processorCatalogs: [{namespace: gateway-system, name: catalog}]";
    spec.routes = routeOfRules("    - matches: [{path: {value: /plain}}]\n      backendRefs: [" + backendRef("plain") +
                               "]\n    - backendRefs: [" + backendRef("no-pii-openai") + "]\n") +
                  with(kDetectingBackend, "PORT", std::to_string(origin_.port())) + detectorCatalog(file) +
                  tlsSecretOf("client-cert", issueClient(root_, "tenant"));
    spec.environment = {"SSL_CERT_FILE=" + folder_.write("bundle.pem", root_.certificate)};
    spec.options = {"--library-dir", SLUICE_PROGRAMS "/libraries"};
    return spec;
  }
  void start(const std::string& file = "pii-detector.so") {
    gateway_ = std::make_unique<GatewayProcess>(specWith(file));
  }
  /// Starts a gateway whose detector takes bodies of any length, piece by piece.
  void startUnlimited() {
    GatewaySpec spec = specWith("pii-detector.so");
    spec.routes = with(spec.routes, "maxBodyBytes: 2097152", "maxBodyBytes: 0");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }

  /// Sends the body to the origin, which echoes what it got.
  std::string echo(const std::string& body, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-H", "Expect:", "--data-binary", "@" + folder_.write("body", body)});
    return ask(*gateway_, "/echo", more);
  }

  TempDir folder_;
  const CertifiedKey root_ = makeAuthority();
  EchoOrigin origin_{issueServer(root_, "api.openai.com")};
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(Libraries, RunTheProposalsExample) {
  start();
  const std::string answer =
      echo(R"({"prompt": "write to bob@example.com about 4111 1111 1111 1111 and DE89 3704 0044 0532 0130 00"})");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, EndsWith(R"({"prompt": "write to  about  and "})"));
  EXPECT_THAT(gateway_->adminGet("/catalog"),
              HasSubstr(R"("engine":"library","phases":["request-body","response-body"])"));
  gateway_->reload(specWith("pii-detector.so"), "unchanged");
  EXPECT_THAT(echo("call +49 30 1234567"), EndsWith("\r\n\r\ncall "));
  EXPECT_EQ(gateway_->metric("sluice_library_call_duration_seconds_count{type=\"acme.example.com/PIIDetector:v1\","
                             "phase=\"request-body\"}"),
            2)
      << "each body is held whole";
}

TEST_F(Libraries, FindWhatIsWrittenAsAnEscape) {
  start();
  EXPECT_THAT(echo(R"({"a": "to bob\u0040example.com", "b": "4111\u00201111 1111 1111\n", "c": "caf\u00e9 \"x\""})"),
              EndsWith(R"({"a": "to ", "b": "\n", "c": "caf\u00e9 \"x\""})"));
  EXPECT_THAT(echo(R"(CORP\user@example.com \4111 1111 1111 1111)"), EndsWith(R"(CORP\ \)"))
      << "a backslash that begins no escape stands for itself";
}

TEST_F(Libraries, FindWhatLiesAcrossThePiecesOfABody) {
  startUnlimited();
  std::string body;
  std::string expected;
  for (int i = 0; i < 9000; ++i) {
    const std::string filler(static_cast<std::size_t>(100 + i % 397), static_cast<char>('a' + i % 26));
    body += filler + " bob@example.com ";
    expected += filler + "  ";
  }
  ASSERT_GT(body.size(), 2097152U);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"-H", "Transfer-Encoding: chunked"}}) {
    const std::string answer = echo(body, more);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + expected)) << answer.size() << " bytes, not " << expected.size();
  }
}

TEST_F(Libraries, RefuseABodyThatIsLongerThanItMayBe) {
  start();
  EXPECT_THAT(echo(std::string(2097152, 'a')), StartsWith("HTTP/1.1 200"));
  const std::string longer(2097153, 'a');
  EXPECT_THAT(echo(longer), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(echo(longer, {"-H", "Transfer-Encoding: chunked"}), StartsWith("HTTP/1.1 413"));
}

TEST_F(Libraries, ThatCannotBeUsedCloseTheirBackendAloneAndSayWhy) {
  start("absent.so");
  EXPECT_THAT(echo("hello"), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("proxy_configuration_error")));
  EXPECT_EQ(statusOf(*gateway_, "/plain"), "200");
  EXPECT_THAT(gateway_->adminGet("/status"),
              AllOf(HasSubstr("\"UnsupportedExtensionType\""),
                    HasSubstr("library absent.so: it is not in the folder of --library-dir")));
  GatewaySpec spec = specWith("pii-detector.so");
  spec.options = {};
  gateway_ = std::make_unique<GatewayProcess>(spec);
  EXPECT_THAT(echo("hello"), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("proxy_configuration_error")));
  EXPECT_THAT(gateway_->adminGet("/status"), HasSubstr(", library, is not supported"));
  EXPECT_THAT(gateway_->adminGet("/catalog"), Not(HasSubstr("PIIDetector")));
}

}  // namespace
}  // namespace sluice::test
