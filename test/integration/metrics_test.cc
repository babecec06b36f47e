// Tests that /metrics has every kind of series and passes Prometheus' own parser and linter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Pipes the page into `promtool check metrics`, as an operator would.
ProgramOutcome checked(const std::string& page) {
  const TempDir folder;
  return run({"sh", "-c", "exec promtool check metrics <\"$1\"", "sh", folder.write("metrics", page)});
}

/// Renames the label `serviceAccount`, whose name comes from the egress proposal. The linter wants snake_case, and this
/// label is the only thing that it may object to.
std::string withoutTheGivenName(std::string page) {
  const std::string given = ",serviceAccount=";
  for (std::size_t at = page.find(given); at != std::string::npos; at = page.find(given, at))
    page.replace(at, given.size(), ",service_account=");
  return page;
}

std::string routesTo(const std::vector<std::string>& backends) {
  std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: kinds}\nspec:\n"
      "  parentRefs: [{name: egress}]\n  rules:\n";
  for (const std::string& backend : backends) text += ruleOfPrefix("/" + backend, backend);
  return text;
}

/// Returns the families that have no series.
std::vector<std::string> withoutSeries(const std::string& page) {
  std::vector<std::string> missing;
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    if (page.find("\n" + name + "{") == std::string::npos && page.find("\n" + name + "_count{") == std::string::npos &&
        page.find("\n" + name + " ") == std::string::npos) {
      missing.push_back(name);
    }
  }
  return missing;
}

TEST(Metrics, AreValidForPrometheusOnAFreshPage) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  const ProgramOutcome outcome = checked(gateway.metrics());
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.errors;
}

TEST(Metrics, AreCheckedByALinterThatFindsFaults) {
  EXPECT_NE(checked("# HELP a_total What.\n# TYPE a_total gauge\na_total 1\n").exitCode, 0);
  EXPECT_NE(checked("a_total{x=1} 1\n").exitCode, 0);
  EXPECT_NE(checked("# HELP a_total What.\n# TYPE a_total counter\na_total{oneCamel=\"\"} 1\n").exitCode, 0);
}

/// Refuses the requests of one listener: no compiled-in processor has this type.
constexpr const char* kGuard = R"(---
apiVersion: sluice.dev/v1alpha1
kind: PayloadProcessor
metadata: {namespace: test, name: guard}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: guarded}
  processors: [{name: guard, type: 'acme.test/Guard:v1', phase: request-headers}]
)";

/// No compiled-in type changes a body while it streams, no library is loaded, no listener asks for certificates or is a
/// forward proxy, and no Backend is checked or ejected.
const std::vector<std::string> kUnusedFamilies = {"sluice_upstream_ejections_total",
                                                  "sluice_retry_unreplayable_total",
                                                  "sluice_processor_unreplayable_total",
                                                  "sluice_library_call_duration_seconds",
                                                  "sluice_identity_total",
                                                  "sluice_tunnels",
                                                  "sluice_tunnels_total",
                                                  "sluice_tunnel_bytes_total",
                                                  "sluice_tunnel_duration_seconds",
                                                  "sluice_upstream_endpoint_healthy"};

TEST(Metrics, AreValidForPrometheusWithEveryKindOfSeries) {
  const CertifiedKey authority = makeAuthority();
  const RawOrigin plain(RawOrigin::answering(kOk));
  const EchoOrigin secure(issueServer(authority, "secure.test"));
  const EchoOrigin wrong(issueServer(authority, "else.test"));
  const NameServer names(NameServer::Records{{"asked.test", {"127.0.0.1"}}});
  const auto backend = [](const std::string& name, std::uint16_t port) {
    return BackendSpec{.name = name, .hostname = name + ".test", .port = port};
  };
  BackendSpec trusted = backend("secure", secure.port());
  BackendSpec untrusted = backend("wrong", wrong.port());
  trusted.ca = untrusted.ca = authority.certificate;
  BackendSpec denied = backend("denied", 9);
  denied.addresses = "10.0.0.1";
  BackendSpec asked = backend("asked", plain.port());
  BackendSpec unknown = backend("unknown", plain.port());
  asked.addresses = unknown.addresses = "";
  const std::uint16_t guarded = freePort();
  const GatewayProcess gateway(
      {.backends = {backend("plain", plain.port()), trusted, untrusted, denied, asked, unknown},
       .settings = "limits: {headerFields: 10}\n",
       .routes = routesTo({"plain", "secure", "wrong", "denied", "asked", "unknown"}) + kGuard +
                 egressPolicy("open", kGatewayTarget, "default: Allow"),
       .tls = issueServer(authority, "gateway.test"),
       .listeners = "    - {name: guarded, protocol: HTTP, port: " + std::to_string(guarded) + "}\n",
       .dns = "servers: [\"" + names.address() + "\"]"});
  const auto statusOf = [&](const std::string& target, const char* version) {
    return run({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", version, gateway.url(target)}).output;
  };
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(statusOf("/plain", version), "200");
    EXPECT_EQ(statusOf("/secure", version), "200");
    EXPECT_EQ(statusOf("/wrong", version), "502");
    EXPECT_EQ(statusOf("/denied", version), "403");
    EXPECT_EQ(statusOf("/asked", version), "200");
    EXPECT_EQ(statusOf("/unknown", version), "503");
    EXPECT_EQ(statusOf("/nowhere", version), "404");
  }
  const std::string atGuard = "http://127.0.0.1:" + std::to_string(guarded) + "/plain";
  EXPECT_EQ(run({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", atGuard}).output, "500");
  BlockingSocket tooMuch = BlockingSocket::connect(gateway.port());
  std::string fields;
  for (int i = 0; i < 20; ++i) fields += "X-" + std::to_string(i) + ": 1\r\n";
  tooMuch.send("GET /plain HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  EXPECT_EQ(readResponse(tooMuch).status, 431);

  const std::string page = gateway.metrics();
  EXPECT_THAT(withoutSeries(page), testing::ElementsAreArray(kUnusedFamilies));
  for (const char* series : {"sluice_upstream_tls_handshakes_total{result=\"success\"",
                             "sluice_upstream_tls_handshakes_total{result=\"tls_certificate_error\"",
                             "sluice_limit_hits_total{limit=\"headerFields\"}", "dns_lookup_duration_seconds_sum{",
                             "sluice_address_denied_total{class=\"private\"}", "error_type=\"dns_error\""}) {
    EXPECT_THAT(page, HasSubstr(series));
  }
  const ProgramOutcome outcome = checked(withoutTheGivenName(page));
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.errors;
  EXPECT_EQ(outcome.output + outcome.errors, "");
}

}  // namespace
}  // namespace sluice::test
