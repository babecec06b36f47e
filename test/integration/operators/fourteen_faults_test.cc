// Strikes a gateway with the faults that operators meet, each with real peers, and finds the reason of each in `sluice
// status`, in a metric, and in an event or a line of a log. Whoever reads only one of the three learns it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "test/integration/operators/fault_stage.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

struct OperatorFault {
  const char* name;
  /// Makes the peers, and returns the configuration with which the gateway starts.
  std::function<GatewaySpec(FaultStage&)> begin;
  /// Lets the fault strike, once the gateway has started.
  std::function<void(FaultStage&, GatewayProcess&)> strike;
  std::string answer;    // the status of a request afterwards
  std::string headline;  // a word of what `sluice status` says first
  ReasonWords status;    // one of its lines, with those that continue it
  ReasonWords metric;    // a series that is above 0
  ReasonWords told;      // one event, or one line of a log
};

void askOnce(FaultStage& /*stage*/, GatewayProcess& gateway) { statusOf(gateway, "/"); }

/// Returns the configuration of a gateway with nothing wrong.
GatewaySpec soundSpec(FaultStage& stage) { return {.backends = {{.port = stage.origin()}}}; }

/// Returns one with an HTTPS listener that has this pair.
GatewaySpec encryptedSpec(FaultStage& stage, const CertifiedKey& pair) {
  GatewaySpec spec = soundSpec(stage);
  spec.tls = pair;
  return spec;
}

/// Returns one whose Backend has a name that only this name server knows.
GatewaySpec namedSpec(FaultStage& stage, ScriptedNameServer::Script script) {
  return {.backends = {{.port = stage.origin(), .addresses = ""}}, .dns = stage.dnsOf(std::move(script))};
}

GatewaySpec expiredClientSpec(FaultStage& stage) {
  CertificateSpec client;
  client.commonName = "gateway";
  client.extendedKeyUsage = "clientAuth";
  client.notBefore = std::chrono::hours(-48);
  client.notAfter = std::chrono::hours(-24);
  return {
      .backends = {
          {.port = stage.strictOrigin(), .ca = stage.authority.certificate, .client = issue(stage.authority, client)}}};
}

/// The certificate has been replaced, and its key has not come yet.
void rotateHalf(FaultStage& stage, GatewayProcess& gateway) {
  const CertifiedKey next = issueServer(stage.authority, "gateway.test");
  gateway.reload(encryptedSpec(stage, {next.certificate, stage.identity.key}));
}

GatewaySpec takenPortSpec(FaultStage& stage) {
  GatewaySpec spec = soundSpec(stage);
  spec.listeners = "    - {name: taken, protocol: HTTP, port: " + std::to_string(stage.occupant()) + "}\n";
  return spec;
}

GatewaySpec brokenReferenceSpec(FaultStage& stage) {
  GatewaySpec spec = soundSpec(stage);
  spec.routes = routeOfRules("    - backendRefs: [" + backendRef("nowhere", ", port: 80") + "]\n");
  return spec;
}

void breakSettings(FaultStage& stage, GatewayProcess& gateway) {
  GatewaySpec spec = soundSpec(stage);
  spec.settings = "drainTime: 3s\n";
  gateway.reload(spec, "failure");
}

GatewaySpec guardedSpec(FaultStage& stage) {
  return {.backends = {{.port = stage.origin(),
                        .extensions = "[{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 10s, config: "
                                      "{backendRefs: [" +
                                      backendRef("guard") + "]}}]"},
                       {.name = "guard", .hostname = "guard.test", .port = stage.guard().port()}}};
}

void endGuard(FaultStage& stage, GatewayProcess& gateway) {
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  stage.guard().stop();
  statusOf(gateway, "/");
}

GatewaySpec boundedSpec(FaultStage& stage) {
  const std::string budget = use("QoSController", "budget", "request-headers", "requestsPerMinute: 1, burst: 1");
  return {.backends = {{.port = stage.origin(), .extensions = "[" + budget + "]"}}};
}

void exceedBudget(FaultStage& /*stage*/, GatewayProcess& gateway) {
  EXPECT_EQ(statusOf(gateway, "/"), "200");
  EXPECT_EQ(statusOf(gateway, "/"), "429");
}

ScriptedNameServer::Script withFlags(std::size_t flags) {
  return [flags](const DnsQuestion& question) {
    return std::vector<ScriptedNameServer::Datagram>{{dnsHead(question, 0, flags)}};
  };
}

constexpr std::size_t kNoSuchName = 0x8583;  // NXDOMAIN, of an authority
const std::string kAttemptSeries = "http_client_request_duration_seconds_count";

const OperatorFault kOperatorFaults[] = {
    {.name = "ABackendThatIsDown",
     .begin = [](FaultStage& stage) -> GatewaySpec { return {.backends = {{.port = stage.nobody()}}}; },
     .strike = askOnce,
     .answer = "503",
     .headline = "",
     .status = {"Backend ", " origin ", "Unreachable", "refused"},
     .metric = {kAttemptSeries, "backend=\"test/origin\"", "error_type=\"connection_refused\""},
     .told = {"object is not fully served", "Backend test/origin", "refused"}},
    {.name = "ANameServerThatIsDown",
     .begin =
         [](FaultStage& stage) {
           return namedSpec(stage, [](const DnsQuestion&) { return std::vector<ScriptedNameServer::Datagram>(); });
         },
     .strike = askOnce,
     .answer = "504",
     .headline = "",
     .status = {"Backend ", " origin ", "Unreachable", "$dns"},
     .metric = {"dns_lookup_duration_seconds_count", "dns_question_name=\"origin.test\"", "error_type=\"dns_timeout\""},
     .told = {"\"error.type\":\"dns_timeout\"", "$dns"}},
    {.name = "ANameThatDoesNotExist",
     .begin = [](FaultStage& stage) { return namedSpec(stage, withFlags(kNoSuchName)); },
     .strike = askOnce,
     .answer = "503",
     .headline = "",
     .status = {"Backend ", " origin ", "Unreachable", "Domain name not found"},
     .metric = {"dns_lookup_duration_seconds_count", "dns_question_name=\"origin.test\"", "error_type=\"dns_error\""},
     .told = {"\"error.type\":\"dns_error\"", "origin.test", "$dns"}},
    {.name = "AClientCertificateThatHasExpired",
     .begin = expiredClientSpec,
     .strike = askOnce,
     .answer = "502",
     .headline = "degraded",
     .status = {"Backend ", " origin ", "certificate", "expired"},
     .metric = {kAttemptSeries, "backend=\"test/origin\"", "error_type=\"tls_certificate_error\""},
     .told = {"\"error.type\":\"tls_certificate_error\"", "expired"}},
    {.name = "ASecretThatIsHalfRotated",
     .begin = [](FaultStage& stage) { return encryptedSpec(stage, stage.identity); },
     .strike = rotateHalf,
     .answer = "200",
     .headline = "degraded",
     .status = {"Gateway ", " egress ", "InvalidCertificateRef", "key"},
     .metric = {"sluice_config_faulty_objects", "kind=\"Gateway\""},
     .told = {"object is not fully served", "Gateway test/egress", "InvalidCertificateRef"}},
    {.name = "APathOfTheLogWithoutItsFolder",
     .begin =
         [](FaultStage& stage) {
           GatewaySpec spec = soundSpec(stage);
           spec.accessLog = stage.pathWithoutFolder();
           return spec;
         },
     .strike = askOnce,
     .answer = "200",
     .headline = "degraded",
     .status = {"access log", "$file"},
     .metric = {"sluice_log_lines_dropped_total"},
     .told = {"access log", "$file", "No such file"}},
    {.name = "ADiskOfTheLogThatIsFull",
     .begin =
         [](FaultStage& stage) {
           GatewaySpec spec = soundSpec(stage);
           spec.accessLog = stage.fullDisk();
           return spec;
         },
     .strike = askOnce,
     .answer = "200",
     .headline = "",
     .status = {"AccessLogLinesLost ConfigMap test/settings", "access log lines are being lost", "a full disk"},
     .metric = {"sluice_log_lines_dropped_total"},
     .told = {"access log lines are being lost"}},
    {.name = "APortThatIsTaken",
     .begin = takenPortSpec,
     .strike = askOnce,
     .answer = "200",
     .headline = "degraded",
     .status = {"Gateway ", " egress ", "$port", "in use"},
     .metric = {"sluice_config_faulty_objects", "kind=\"Gateway\""},
     .told = {"object is not fully served", "Gateway test/egress", "$port", "in use"}},
    {.name = "AnAddressThatIsPrivate",
     .begin = [](FaultStage& stage) -> GatewaySpec {
       return {.backends = {{.port = stage.nobody(), .addresses = "10.1.2.3"}}};
     },
     .strike = askOnce,
     .answer = "403",
     .headline = "",
     .status = {"Backend ", " origin ", "Unreachable", "is private"},
     .metric = {"sluice_address_denied_total", "class=\"private\""},
     .told = {"RequestDenied", "Backend test/origin", "destination_ip_prohibited"}},
    {.name = "ANameThatHasOnlyIpv6",
     .begin = [](FaultStage& stage) { return namedSpec(stage, dnsAlways({"2001:db8::1"})); },
     .strike = askOnce,
     .answer = "503",
     .headline = "",
     .status = {"Backend ", " origin ", "Unreachable", "dns.ipv6"},
     .metric = {"dns_lookup_duration_seconds_count", "dns_question_name=\"origin.test\"", "error_type=\"dns_error\""},
     .told = {"\"error.type\":\"dns_error\"", "dns.ipv6"}},
    {.name = "AReferenceToNothing",
     .begin = brokenReferenceSpec,
     .strike = askOnce,
     .answer = "500",
     .headline = "degraded",
     .status = {"HTTPRoute ", " all ", "BackendNotFound", "nowhere"},
     .metric = {"sluice_config_faulty_objects", "kind=\"HTTPRoute\""},
     .told = {"object is not fully served", "HTTPRoute test/all", "BackendNotFound", "nowhere"}},
    {.name = "ASettingThatDoesNotExist",
     .begin = soundSpec,
     .strike = breakSettings,
     .answer = "200",
     .headline = "Rollback",
     .status = {"ConfigMap test/settings", "drainTime", "unknown"},
     .metric = {"sluice_config_state", "state=\"Rollback\""},
     .told = {"RolledBack"}},
    {.name = "AProcessorThatIsAway",
     .begin = guardedSpec,
     .strike = endGuard,
     .answer = "500",
     .headline = "",
     .status = {"Backend ", " origin ", "guard", "ExtensionUnavailable"},
     .metric = {"sluice_processor_failures_total", "type=\"sluice.dev/ExtProc:v1\"", "outcome=\"closed\""},
     .told = {"ProcessorFailed", "Backend test/origin", "guard"}},
    {.name = "ARateThatIsUsedUp",
     .begin = boundedSpec,
     .strike = exceedBudget,
     .answer = "429",
     .headline = "",
     .status = {"RequestDenied", "Backend test/origin", "rate_limited"},
     .metric = {"http_server_request_duration_seconds_count", "backend=\"test/origin\"", "error_type=\"rate_limited\""},
     .told = {"RequestDenied", "Backend test/origin", "rate_limited", "budget"}},
};
static_assert(std::size(kOperatorFaults) == 14);

class FourteenFaults : public testing::TestWithParam<OperatorFault> {
 protected:
  static ProgramOutcome statusCommand(const GatewayProcess& gateway) {
    return sluice({"status", "--admin", "127.0.0.1:" + std::to_string(gateway.adminPort())});
  }
  /// Returns the lines before the revisions: the state, and whether objects have faults.
  static std::string headlineOf(const std::string& text) { return text.substr(0, text.find("\ndesired")); }
};

TEST_P(FourteenFaults, HaveTheirReasonInStatusInAMetricAndInAnEventOrALine) {
  const OperatorFault& fault = GetParam();
  FaultStage stage;
  const GatewaySpec spec = fault.begin(stage);
  GatewayProcess gateway(spec);
  fault.strike(stage, gateway);

  ProgramOutcome shown;
  const ReasonWords status = stage.filled(fault.status);
  EXPECT_TRUE(eventually([&] {
    shown = statusCommand(gateway);
    return !linesWith(unfolded(shown.output), status).empty() &&
           headlineOf(shown.output).find(fault.headline) != std::string::npos;
  })) << testing::PrintToString(status)
      << " and " << fault.headline << ", not:\n"
      << shown.output << shown.errors;
  if (!fault.headline.empty()) {
    EXPECT_EQ(shown.exitCode, 1) << "a program that only looks at the exit code is told, too";
  }

  const ReasonWords metric = stage.filled(fault.metric);
  EXPECT_TRUE(eventually([&] { return isCounted(gateway.metrics(), metric); })) << testing::PrintToString(metric);

  const ReasonWords told = stage.filled(fault.told);
  EXPECT_TRUE(eventually([&] { return !linesWith(allToldBy(gateway), told).empty(); }))
      << testing::PrintToString(told) << ", not:\n"
      << allToldBy(gateway);

  EXPECT_EQ(statusOf(gateway, "/"), fault.answer);
  if (!spec.tls) return;
  const std::string encrypted = "https://127.0.0.1:" + std::to_string(gateway.tlsPort()) + "/";
  EXPECT_THAT(run({"curl", "-sk", "-i", "--max-time", "20", encrypted}).output, HasSubstr(" 200"));
}

INSTANTIATE_TEST_SUITE_P(Of, FourteenFaults, testing::ValuesIn(kOperatorFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace sluice::test
