// Tests that the status of a Backend says why no request reaches it, with real peers that fail in one way each, and
// that the log and the events tell of the recovery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Returns the status, the reason and the message of the condition Available of the only Backend.
std::string toldOfBackend(const GatewayProcess& gateway) {
  const std::string status = gateway.adminGet("/status");
  const std::size_t object = status.find("\"kind\":\"Backend\"");
  const std::size_t at = status.find("\"type\":\"Available\"", object);
  if (at == std::string::npos) return "none";
  const std::string condition = status.substr(at, status.find('}', at) - at);
  const auto member = [&](const std::string& name) {
    const std::size_t from = condition.find("\"" + name + "\":\"");
    if (from == std::string::npos) return std::string();
    const std::size_t begin = from + name.size() + 4;
    return condition.substr(begin, condition.find('"', begin) - begin);
  };
  return member("status") + " " + member("reason") + " " + member("message");
}

class UnreachableBackend : public testing::Test {
 protected:
  void start(const BackendSpec& backend, const std::string& dns = {}) {
    gateway_ = std::make_unique<GatewayProcess>(GatewaySpec{.backends = {backend}, .dns = dns});
  }
  std::string ask() const { return run({"curl", "-sS", "-i", "--max-time", "20", gateway_->url("/")}).output; }
  /// Waits until the Backend is not available, and returns the message.
  std::string reasonTold() const {
    EXPECT_TRUE(eventually([&] { return toldOfBackend(*gateway_).starts_with("False Unreachable "); }))
        << toldOfBackend(*gateway_);
    return toldOfBackend(*gateway_);
  }

  /// Runs openssl s_server with a certificate for `name`, which wants one of its client with `options`.
  std::uint16_t serveTls(const std::string& name, const std::vector<std::string>& options = {}) {
    const std::uint16_t port = freePort();
    const CertifiedKey server = issueServer(authority_, name);
    std::vector<std::string> command = {"openssl",
                                        "s_server",
                                        "-accept",
                                        "127.0.0.1:" + std::to_string(port),
                                        "-www",
                                        "-cert",
                                        folder_.write("origin.crt", server.certificate),
                                        "-key",
                                        folder_.write("origin.key", server.key),
                                        "-CAfile",
                                        folder_.write("ca.crt", authority_.certificate)};
    command.insert(command.end(), options.begin(), options.end());
    peer_ = std::make_unique<ChildProcess>(command);
    EXPECT_TRUE(waitForPort(port)) << peer_->errors();
    return port;
  }
  CertifiedKey expiredClient() const {
    CertificateSpec spec;
    spec.commonName = "tenant";
    spec.extendedKeyUsage = "clientAuth";
    spec.notBefore = std::chrono::hours(-48);
    spec.notAfter = std::chrono::hours(-24);
    return issue(authority_, spec);
  }

  CertifiedKey authority_ = makeAuthority();
  TempDir folder_;
  std::unique_ptr<ChildProcess> peer_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(UnreachableBackend, SaysThatItsPortIsClosedUntilItServesAgain) {
  const std::uint16_t port = freePort();
  start({.port = port});
  EXPECT_THAT(ask(), HasSubstr(" 503 "));
  EXPECT_THAT(reasonTold(), AllOf(HasSubstr("origin.test:" + std::to_string(port) + " takes no connections since "),
                                  HasSubstr("connection refused (127.0.0.1:" + std::to_string(port) + ")")));
  EXPECT_THAT(gateway_->adminGet("/status"),
              AllOf(HasSubstr("\"lastError\":\"connection_refused\""), HasSubstr("\"lastFailedAt\":")));
  EXPECT_TRUE(eventually(
      [&] { return gateway_->adminGet("/events").find("\"reason\":\"BackendUnreachable\"") != std::string::npos; }));
  const RawOrigin back(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), port);
  EXPECT_TRUE(eventually([&] { return ask().find(" 200 ") != std::string::npos; }));
  EXPECT_TRUE(eventually([&] { return toldOfBackend(*gateway_).starts_with("True Available"); }));
  EXPECT_TRUE(
      eventually([&] { return gateway_->adminGet("/events").find("takes connections again") != std::string::npos; }));
  EXPECT_TRUE(gateway_->process().waitForLine("BackendReachable"));
  EXPECT_THAT(gateway_->adminGet("/status"), Not(HasSubstr("\"lastError\"")));
}

TEST_F(UnreachableBackend, SaysWhichServerDoesNotKnowItsName) {
  const NameServer server({});
  start({.port = 443, .addresses = ""}, "servers: [\"" + server.address() + "\"]");
  EXPECT_THAT(ask(), HasSubstr(" 503 "));
  EXPECT_THAT(reasonTold(), HasSubstr("origin.test: Domain name not found (asked " + server.address() + ")"));
}

TEST_F(UnreachableBackend, SaysThatItsNameHasOnlyIpv6Addresses) {
  const NameServer server(NameServer::Records{{"origin.test", {"::1"}}});
  start({.port = 443, .addresses = ""}, "servers: [\"" + server.address() + "\"]");
  const std::string expected = "origin.test: the name has only IPv6 addresses, and dns.ipv6 is off";
  EXPECT_THAT(ask(), HasSubstr(expected));
  EXPECT_THAT(reasonTold(), HasSubstr(expected));
}

TEST_F(UnreachableBackend, SaysThatItsAddressIsPrivate) {
  start({.port = 443, .addresses = "10.1.2.3"});
  EXPECT_THAT(ask(), AllOf(HasSubstr(" 403 "), Not(HasSubstr("10.1.2.3"))));
  EXPECT_THAT(reasonTold(), HasSubstr("10.1.2.3:443 is private, and addressGuard.allow does not name it"));
}

TEST_F(UnreachableBackend, SaysWhatIsWrongWithItsCertificate) {
  const std::uint16_t port = serveTls("another.test");
  start({.port = port, .ca = authority_.certificate});
  EXPECT_THAT(ask(), HasSubstr("tls_certificate_error"));
  EXPECT_THAT(reasonTold(), HasSubstr("the peer's certificate is refused: "));
}

TEST_F(UnreachableBackend, SaysThatItWantsAClientCertificate) {
  const std::uint16_t port = serveTls("origin.test", {"-Verify", "1", "-verify_return_error"});
  start({.port = port, .ca = authority_.certificate});
  EXPECT_THAT(ask(), HasSubstr("tls_certificate_error"));
  EXPECT_THAT(reasonTold(), HasSubstr("the peer demands a client certificate"));
}

TEST_F(UnreachableBackend, SaysThatOurCertificateHasExpired) {
  for (const char* version : {"-tls1_3", "-tls1_2"}) {
    const std::uint16_t port = serveTls("origin.test", {"-Verify", "1", "-verify_return_error", version});
    start({.port = port, .ca = authority_.certificate, .client = expiredClient()});
    for (int i = 0; i < 3; ++i) EXPECT_THAT(ask(), HasSubstr("tls_certificate_error")) << version;
    EXPECT_THAT(reasonTold(), HasSubstr("our client certificate has expired on 20")) << version;
  }
}

}  // namespace
}  // namespace sluice::test
