// Tests HTTPS listeners side by side: neither a ticket nor a connection of one is valid at another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string listener(const std::string& name, const std::string& hostname, std::uint16_t port) {
  return "    - {name: " + name + ", protocol: HTTPS, port: " + std::to_string(port) +
         (hostname.empty() ? "" : ", hostname: \"" + hostname + "\"") +
         ", tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: " + name + "}]}}\n";
}

/// Runs listeners a, b and wild by hostname on one port, alone on another, and two that share a certificate on a third;
/// all lead to one origin that answers with the path of the request.
class TlsListeners : public testing::Test {
 protected:
  TlsListeners() : gateway_(spec()) {}

  GatewaySpec spec() {
    const CertifiedKey root = makeAuthority();
    CertificateSpec both;
    both.dnsNames = {"c.test", "d.test"};
    const CertifiedKey shared = issue(root, both);
    std::string text =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: tls}\nspec:\n"
        "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n  listeners:\n" +
        listener("a", "a.test", port_) + listener("b", "b.test", port_) + listener("wild", "*.wild.test", port_) +
        listener("c", "c.test", port_) + listener("d", "d.test", port_) + listener("alone", "", alonePort_) +
        tlsSecretOf("a", issueServer(root, "a.test")) + tlsSecretOf("b", issueServer(root, "b.test")) +
        tlsSecretOf("wild", issueServer(root, "*.wild.test")) + tlsSecretOf("c", shared) + tlsSecretOf("d", shared) +
        tlsSecretOf("alone", issueServer(root, "a.test")) +
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: "
        "all}\nspec:\n"
        "  parentRefs: [{name: tls}, {name: egress}]\n  rules:\n"
        "    - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n";
    return {.backends = {{.port = origin_.port()}}, .routes = text};
  }

  static std::string at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }
  /// Returns the status of a request for `host` on a connection that was opened for `sni`; "" sends no name.
  int ask(const std::string& sni, const std::string& host, const std::string& version = "--http1.1") const {
    const std::string port = std::to_string(port_);
    const std::string name = sni.empty() ? "127.0.0.1" : sni;
    const ProgramOutcome got =
        run({"curl", "-sk", version, "-o", "/dev/null", "-w", "%{http_code}", "--resolve",
             name + ":" + port + ":127.0.0.1", "-H", "Host: " + host, "https://" + name + ":" + port + "/"});
    return got.output.empty() ? 0 : std::stoi(got.output);
  }
  /// Returns the session line that openssl s_client prints: "New, TLSv1.2", "Reused, TLSv1.3" ...
  static std::string connect(std::uint16_t port, const std::string& sni, const std::string& version,
                             const std::vector<std::string>& session) {
    std::vector<std::string> argv = {"sh",
                                     "-c",
                                     "printf 'GET / HTTP/1.1\\r\\nHost: a.test\\r\\nConnection: close\\r\\n\\r\\n' | "
                                     "openssl s_client -ign_eof \"$@\"",
                                     "sh",
                                     "-connect",
                                     at(port),
                                     "-servername",
                                     sni,
                                     version};
    argv.insert(argv.end(), session.begin(), session.end());
    const std::string output = run(argv).output;
    const std::size_t begin = std::min(output.find("New, TLS"), output.find("Reused, TLS"));
    return begin == std::string::npos ? output
                                      : output.substr(begin, output.find(',', output.find(',', begin) + 1) - begin);
  }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")};
  std::uint16_t port_ = freePort();
  std::uint16_t alonePort_ = freePort();
  GatewayProcess gateway_;
};

class ListenerTlsTickets : public TlsListeners, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Versions, ListenerTlsTickets, testing::Values("-tls1_2", "-tls1_3"),
                         [](const auto& given) { return std::string(given.param).substr(1); });

TEST_P(ListenerTlsTickets, AreValidForOneListenerOnly) {
  const TempDir folder;
  const std::string ticket = folder.path() + "/session.pem";
  const std::vector<std::string> keep = {"-sess_out", ticket};
  const std::vector<std::string> use = {"-sess_in", ticket};
  ASSERT_THAT(connect(port_, "a.test", GetParam(), keep), HasSubstr("New, "));
  EXPECT_THAT(connect(alonePort_, "a.test", GetParam(), use), HasSubstr("New, ")) << "another port";
  EXPECT_THAT(connect(port_, "b.test", GetParam(), use), HasSubstr("New, ")) << "another name";
  EXPECT_THAT(connect(port_, "x.wild.test", GetParam(), use), HasSubstr("New, "));
  EXPECT_THAT(connect(port_, "a.test", GetParam(), use), HasSubstr("Reused, ")) << "where it came from";
}

TEST_F(TlsListeners, ServeTheHostsOfTheListenerThatTheConnectionWasOpenedFor) {
  for (const char* version : {"--http1.1", "--http2"}) {
    SCOPED_TRACE(version);
    EXPECT_EQ(ask("a.test", "a.test", version), 200);
    EXPECT_EQ(ask("b.test", "B.TEST", version), 200);
    EXPECT_EQ(ask("x.wild.test", "y.wild.test", version), 200) << "one listener, one certificate";
    EXPECT_EQ(ask("", "a.test", version), 200) << "a client without SNI may ask for any host";
  }
}

TEST_F(TlsListeners, AnswerMisdirectedRequestsWith421) {
  for (const char* version : {"--http1.1", "--http2"}) {
    SCOPED_TRACE(version);
    EXPECT_EQ(ask("a.test", "b.test", version), 421);
    EXPECT_EQ(ask("b.test", "a.test", version), 421);
    EXPECT_EQ(ask("a.test", "x.wild.test", version), 421);
    EXPECT_EQ(ask("x.wild.test", "a.test", version), 421);
    EXPECT_EQ(ask("c.test", "d.test", version), 421) << "even by a certificate for both: they are two policies";
    EXPECT_EQ(ask("unknown.test", "a.test", version), 421) << "no listener is of that name";
    EXPECT_EQ(ask("a.test", "unknown.test", version), 404) << "it is nobody's, here or elsewhere";
  }
  EXPECT_TRUE(origin_.heads().empty());
}

TEST_F(TlsListeners, ExplainTheAnswerToAMisdirectedRequest) {
  const std::string port = std::to_string(port_);
  const ProgramOutcome got = run({"curl", "-sk", "--resolve", "a.test:" + port + ":127.0.0.1", "-H", "Host: b.test",
                                  "https://a.test:" + port + "/"});
  EXPECT_THAT(got.output, HasSubstr("\"misdirected_request\""));
  EXPECT_THAT(gateway_.accessLog(1).at(0), HasSubstr("\"error.type\":\"misdirected_request\""));
}

}  // namespace
}  // namespace sluice::test
