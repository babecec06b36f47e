// Tests that the access log shows why a request failed and where it went, and that the answers to clients do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string askedFor(const GatewayProcess& gateway, const std::vector<std::string>& options = {}) {
  std::vector<std::string> command = {"curl", "-sS", "-i", "--max-time", "30", gateway.url("/asked?secret=1")};
  command.insert(command.end(), options.begin(), options.end());
  return run(command).output;
}

/// Returns the line of the access log of the one request.
std::string lineOf(GatewayProcess& gateway) { return gateway.accessLog(1).at(0); }

TEST(Reasons, NameTheAddressThatRefused) {
  const std::string address = "127.0.0.1:" + std::to_string(freePort());
  GatewayProcess gateway({.backends = {{.port = static_cast<std::uint16_t>(std::stoi(address.substr(10)))}}});
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("HTTP/1.1 503"), Not(HasSubstr("127.0.0.1"))));
  EXPECT_THAT(lineOf(gateway),
              AllOf(HasSubstr("\"error.type\":\"connection_refused\""), HasSubstr("\"upstream.address\":\"" + address),
                    Not(HasSubstr("\"error.message\":null")), HasSubstr("\"attempts\":1")));
  EXPECT_EQ(gateway.metric(
                "http_client_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/all\","
                "backend=\"test/"
                "origin\",namespace=\"\",serviceAccount=\"\",http_request_method=\"GET\",http_response_status_code="
                "\"\",error_type=\"connection_refused\"}"),
            1);
}

TEST(Reasons, NameTheClassOfAnAddressThatIsNotAllowed) {
  GatewayProcess gateway({.backends = {{.port = 443, .addresses = "10.1.2.3"}}});
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("destination_ip_prohibited"), Not(HasSubstr("10.1.2.3"))));
  EXPECT_THAT(lineOf(gateway),
              AllOf(HasSubstr("\"upstream.address\":\"10.1.2.3:443\""),
                    HasSubstr("not allowed: 10.1.2.3:443 is private, and addressGuard.allow does not name it\"")));
}

TEST(Reasons, NameTheServerThatHasNoAnswer) {
  const ScriptedNameServer server([](const DnsQuestion&) { return std::vector<ScriptedNameServer::Datagram>(); });
  GatewayProcess gateway({.backends = {{.port = 443, .addresses = ""}},
                          .dns = "servers: [\"" + server.address() + "\"], timeout: 100ms, attempts: 1"});
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("dns_timeout"), Not(HasSubstr(server.address()))));
  EXPECT_THAT(lineOf(gateway), HasSubstr("asked " + server.address()));
}

TEST(Reasons, NameWhatIsWrongWithACertificate) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "another.test"));
  GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root.certificate}}});
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("tls_certificate_error"), Not(HasSubstr("another.test"))));
  EXPECT_THAT(lineOf(gateway), AllOf(HasSubstr("\"upstream.address\":\"127.0.0.1:" + std::to_string(origin.port())),
                                     HasSubstr("expected origin.test, but the certificate is for another.test\"")));
}

TEST(Reasons, NameTheLimitThatWasHit) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway(towards(origin, "limits: {headerFields: 10}\n"));
  std::vector<std::string> many;
  for (int i = 0; i < 12; ++i) many.insert(many.end(), {"-H", "x-" + std::to_string(i) + ": a"});
  EXPECT_THAT(askedFor(gateway, many), AllOf(HasSubstr("HTTP/1.1 431"), HasSubstr("\"limit\":\"headerFields\"")));
  EXPECT_THAT(lineOf(gateway), HasSubstr("\"error.message\":\"too many fields\""));
}

TEST(Reasons, NameTheTimeoutThatHasPassed) {
  const RawOrigin origin(RawOrigin::answering(""));
  GatewayProcess gateway(towards(origin, "timeouts: {request: 50ms}\n"));
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("HTTP/1.1 504"), HasSubstr("\"limit\":\"request\"")));
}

TEST(Reasons, AreThoseOfTheProcessorForTheLogAlone) {
  const EchoOrigin origin(std::nullopt);
  const std::string asks =
      "{name: ask, type: 'acme.test/Ask:v1', phase: request-headers, config: {port: " + std::to_string(freePort()) +
      ", protocol: 'http/1.1', path: /ask}}";
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .routes = routeOfRules("    - filters: [" + inlined(asks) + "]\n" + backendRefs()),
                          .program = "sluice-asking"});
  EXPECT_THAT(askedFor(gateway), AllOf(HasSubstr("a processor of this request failed"), Not(HasSubstr("refused"))));
  EXPECT_THAT(lineOf(gateway), HasSubstr("\"error.message\":\"a processor of this request failed: "));
}

TEST(Reasons, OfANotFoundNameItsGatewayAndListener) {
  const EchoOrigin origin(std::nullopt);
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .routes = routeOfRules("    - matches: [{path: {value: /else}}]\n" + backendRefs())});
  EXPECT_THAT(askedFor(gateway), HasSubstr("HTTP/1.1 404"));
  EXPECT_THAT(lineOf(gateway), AllOf(HasSubstr("\"gateway\":\"test/egress\""), HasSubstr("\"listener\":\"http\""),
                                     HasSubstr("\"route\":null"), HasSubstr("\"url.path\":\"/asked\"")));
}

class RequestIds : public testing::Test {
 protected:
  static constexpr const char* kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  static std::string idIn(const std::string& text, const std::string& mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return "none behind " + mark + " in " + text;
    return text.substr(at + mark.size(), text.find_first_of("\r\"", at + mark.size()) - at - mark.size());
  }
  RawOrigin origin_{RawOrigin::answering(kAnswer)};
};

TEST_F(RequestIds, AreTheSameForTheClientTheBackendAndTheLog) {
  GatewayProcess gateway(towards(origin_));
  for (const std::string given : {"", "mine-1"}) {
    const std::string answer = askedFor(
        gateway, given.empty() ? std::vector<std::string>() : std::vector<std::string>{"-H", "x-request-id: " + given});
    const std::string id = idIn(answer, "\r\nx-request-id: ");
    if (given.empty()) {
      EXPECT_EQ(id.size(), 36U) << answer;
    } else {
      EXPECT_EQ(id, given);
    }
    EXPECT_EQ(idIn(origin_.heads().back(), "\r\nx-request-id: "), id);
    const auto lines = gateway.accessLog(origin_.heads().size());
    EXPECT_EQ(idIn(lines.back(), "\"request_id\":\""), id);
  }
}

TEST_F(RequestIds, AreInTheBodyOfAnErrorEvenIfNothingWasReadable) {
  GatewayProcess gateway(towards(origin_, "limits: {headerFields: 3}\n"));
  const std::string answer = askedFor(gateway, {"-H", "a: b", "-H", "c: d", "-H", "e: f"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 431"));
  const std::string id = idIn(answer, "\"request_id\":\"");
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(idIn(answer, "\r\nx-request-id: "), id);
  EXPECT_EQ(idIn(lineOf(gateway), "\"request_id\":\""), id);
}

TEST_F(RequestIds, OfTheOriginStay) {
  const RawOrigin origin(
      RawOrigin::answering("HTTP/1.1 200 OK\r\nx-request-id: of-origin\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway(towards(origin));
  const std::string answer = askedFor(gateway);
  EXPECT_EQ(idIn(answer, "\r\nx-request-id: "), "of-origin");
  EXPECT_EQ(countOf(answer, "x-request-id"), 1U);
}

TEST_F(RequestIds, CanHaveAnotherNameOrNone) {
  GatewayProcess gateway(towards(origin_, "requestId: {header: X-Correlation-Id, accept: false}\n"));
  EXPECT_EQ(idIn(askedFor(gateway, {"-H", "x-correlation-id: mine"}), "\r\nx-correlation-id: ").size(), 36U);
  gateway.reload(towards(origin_, "requestId: {header: ''}\n"));
  EXPECT_THAT(askedFor(gateway), Not(HasSubstr("-id: ")));
  EXPECT_THAT(origin_.heads().back(), Not(HasSubstr("-id: ")));
}

TEST_F(RequestIds, GoWithTheTraceOfTheCaller) {
  GatewayProcess gateway(towards(origin_));
  const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  askedFor(gateway, {"-H", "traceparent: " + parent});
  EXPECT_THAT(origin_.heads().back(), HasSubstr("\r\ntraceparent: " + parent));
  EXPECT_THAT(lineOf(gateway), AllOf(HasSubstr("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\""),
                                     HasSubstr("\"span_id\":\"00f067aa0ba902b7\"")));
}

}  // namespace
}  // namespace sluice::test
