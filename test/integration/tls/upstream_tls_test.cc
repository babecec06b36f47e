// Tests each rule for certificates of origins: one that breaks a rule is refused with the reason and sees no request. A
// permission for one Backend does not apply to others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string askInTime(const GatewayProcess& gateway, const std::string& target = "/") {
  return run({"curl", "-sS", "-i", "--max-time", "20", gateway.url(target)}).output;
}

// --- certificates
// -------------------------------------------------------------------------------------------------------

CertificateSpec serverFor(const std::string& name) {
  CertificateSpec spec;
  spec.dnsNames = {name};
  spec.extendedKeyUsage = "serverAuth";
  return spec;
}

CertificateSpec authorityNamed(const std::string& name) {
  CertificateSpec spec;
  spec.commonName = name;
  spec.authority = true;
  return spec;
}

constexpr const char* kHost = "www.example.test";

/// A certificate with the rule that refuses it, as a part of the error text that the client gets; empty: the
/// certificate is good.
struct Certificate {
  const char* name;
  std::function<CertifiedKey(const CertifiedKey& root)> make;
  const char* rule;
  const char* host = kHost;

  friend std::ostream& operator<<(std::ostream& out, const Certificate& certificate) { return out << certificate.name; }
};

CertifiedKey leafWith(const CertifiedKey& root, const std::function<void(CertificateSpec&)>& change) {
  CertificateSpec spec = serverFor(kHost);
  change(spec);
  return issue(root, spec);
}

CertifiedKey leafNamed(const CertifiedKey& root, const std::string& name) {
  return leafWith(root, [&](CertificateSpec& spec) { spec.dnsNames = {name}; });
}

/// Returns a leaf with an intermediate authority of its own, which `change` alters.
CertifiedKey leafBelow(const CertifiedKey& root, const std::function<void(CertificateSpec&)>& change) {
  CertificateSpec spec = authorityNamed("Intermediate");
  change(spec);
  const CertifiedKey intermediate = issue(root, spec);
  return withChain(issueServer(intermediate, kHost), intermediate);
}

const Certificate kCertificates[] = {
    {"Good", [](const CertifiedKey& root) { return issueServer(root, kHost); }, ""},
    {"GoodByWildcard", [](const CertifiedKey& root) { return leafNamed(root, "*.example.test"); }, ""},
    {"GoodBelowAnIntermediate", [](const CertifiedKey& root) { return leafBelow(root, [](CertificateSpec&) {}); }, ""},
    {"GoodWithinNameConstraints",
     [](const CertifiedKey& root) {
       return leafBelow(root, [](CertificateSpec& spec) {
         spec.extensions = {{"nameConstraints", "critical,permitted;DNS:example.test"}};
       });
     },
     ""},
    {"Expired",
     [](const CertifiedKey& root) {
       return leafWith(root, [](CertificateSpec& spec) {
         spec.notBefore = std::chrono::hours(-48);
         spec.notAfter = std::chrono::hours(-24);
       });
     },
     "certificate has expired"},
    {"NotYetValid",
     [](const CertifiedKey& root) {
       return leafWith(root, [](CertificateSpec& spec) { spec.notBefore = std::chrono::hours(12); });
     },
     "certificate is not yet valid"},
    {"WrongHost", [](const CertifiedKey& root) { return leafNamed(root, "other.example.test"); }, "hostname mismatch"},
    {"CommonNameOnly",
     [](const CertifiedKey& root) {
       return leafWith(root, [](CertificateSpec& spec) {
         spec.commonName = kHost;
         spec.dnsNames = {};
       });
     },
     "hostname mismatch"},
    {"PartialWildcard", [](const CertifiedKey& root) { return leafNamed(root, "w*.example.test"); },
     "hostname mismatch"},
    {"WildcardOverTwoLabels", [](const CertifiedKey& root) { return leafNamed(root, "*.example.test"); },
     "hostname mismatch", "a.b.example.test"},
    {"WildcardForItsParent", [](const CertifiedKey& root) { return leafNamed(root, "*.example.test"); },
     "hostname mismatch", "example.test"},
    {"NameOfTheWrongType",
     [](const CertifiedKey& root) {
       return leafWith(root, [](CertificateSpec& spec) {
         spec.dnsNames = {};
         spec.uris = {std::string("https://") + kHost};
         spec.ipAddresses = {"127.0.0.1"};  // the server's real address
       });
     },
     "hostname mismatch"},
    {"NulInTheName", [](const CertifiedKey& root) { return leafNamed(root, kHost + std::string("\0.evil.test", 11)); },
     "hostname mismatch"},
    {"NameConstraintsViolated",
     [](const CertifiedKey& root) {
       return leafBelow(root, [](CertificateSpec& spec) {
         spec.extensions = {{"nameConstraints", "critical,permitted;DNS:elsewhere.test"}};
       });
     },
     "permitted subtree violation"},
    {"ForClientsOnly",
     [](const CertifiedKey& root) {
       return leafWith(root, [](CertificateSpec& spec) { spec.extendedKeyUsage = "clientAuth"; });
     },
     "unsuitable certificate purpose"},
    {"PathLengthExceeded",
     [](const CertifiedKey& root) {
       CertificateSpec last = authorityNamed("Last");
       last.pathLength = 0;
       const CertifiedKey above = issue(root, last);
       const CertifiedKey below = issue(above, authorityNamed("One too many"));
       return withChain(withChain(issueServer(below, kHost), below), above);
     },
     "path length constraint exceeded"},
    {"IntermediateThatIsNoAuthority",
     [](const CertifiedKey& root) { return leafBelow(root, [](CertificateSpec& spec) { spec.authority = false; }); },
     "invalid CA certificate"},
    {"SelfSigned", [](const CertifiedKey&) { return selfSigned(serverFor(kHost)); }, "self-signed certificate"},
    {"UnknownIssuer", [](const CertifiedKey&) { return issueServer(makeAuthority("Somebody"), kHost); },
     "unable to get local issuer certificate"},
};

class BackendCertificate : public testing::TestWithParam<Certificate> {
 protected:
  CertifiedKey root_ = makeAuthority();
};

INSTANTIATE_TEST_SUITE_P(Rules, BackendCertificate, testing::ValuesIn(kCertificates),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_P(BackendCertificate, IsAcceptedOrRefusedByItsRule) {
  const EchoOrigin origin(GetParam().make(root_));
  const GatewayProcess gateway(
      {.backends = {{.hostname = GetParam().host, .port = origin.port(), .ca = root_.certificate}}});
  const std::string answer = askInTime(gateway);
  const std::string handshakes = "sluice_upstream_tls_handshakes_total{result=\"";
  if (*GetParam().rule == '\0') {
    EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 "));
    EXPECT_EQ(gateway.metric(handshakes + "success"), 1);
    return;
  }
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 502 "));
  EXPECT_THAT(answer, HasSubstr("\"code\":\"tls_certificate_error\""));
  EXPECT_THAT(answer, HasSubstr(GetParam().rule));
  EXPECT_EQ(gateway.metric(handshakes + "success"), 0);
  EXPECT_GE(gateway.metric(handshakes + "tls_certificate_error"), 1);
}

TEST(RefusedBackend, SeesNoByteOfTheRequest) {
  constexpr std::size_t kRequest = 8 * 1024;
  const EchoOrigin origin(issueServer(makeAuthority("Somebody"), "origin.test"));
  std::atomic<std::size_t> sent = 0;
  RawOrigin relay([&](BlockingSocket& near, RawOrigin&) {
    BlockingSocket far = BlockingSocket::connect(origin.port());
    while (!near.closed() && !far.closed()) {
      const std::string part = near.readAll(std::chrono::milliseconds(20));
      sent += part.size();
      far.send(part);
      near.send(far.readAll(std::chrono::milliseconds(20)));
    }
  });
  const GatewayProcess gateway({.backends = {{.port = relay.port(), .ca = makeAuthority().certificate}}});
  EXPECT_THAT(askInTime(gateway, "/" + std::string(kRequest, 'x')), HasSubstr("tls_certificate_error"));
  EXPECT_GT(sent, 0u);
  EXPECT_LT(sent, kRequest) << "a hello and an alert";
}

// --- connections are not shared between Backends ------------------------------------------------------------------

std::string routes(const std::string& rules) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: by-path}\n"
         "spec:\n  parentRefs: [{name: egress}]\n  rules:\n" +
         rules;
}

constexpr const char* kResumed =
    "sluice_upstream_tls_handshakes_total{result=\"success\",resumed=\"true\",backend=\"test/origin\"}";
constexpr const char* kFull =
    "sluice_upstream_tls_handshakes_total{result=\"success\",resumed=\"false\",backend=\"test/origin\"}";

TEST(TlsPolicies, ConnectionsAndSessionsBelongToOneAuthority) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  const GatewayProcess gateway(
      {.backends = {{.name = "trusting", .port = origin.port(), .ca = root.certificate},
                    {.name = "other", .port = origin.port(), .ca = makeAuthority().certificate}},
       .routes = routes(ruleOfPrefix("/trusting", "trusting") + ruleOfPrefix("/other", "other"))});
  EXPECT_THAT(askInTime(gateway, "/trusting"), HasSubstr(" 200 "));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(askInTime(gateway, "/other"), HasSubstr("tls_certificate_error"));
    EXPECT_THAT(askInTime(gateway, "/trusting"), HasSubstr(" 200 "));
  }
  const std::string handshakes = "sluice_upstream_tls_handshakes_total{result=\"success\",";
  EXPECT_EQ(gateway.metric(handshakes + "resumed=\"false\",backend=\"test/trusting\"}"), 1);
  EXPECT_EQ(gateway.metric(handshakes + "resumed=\"true\""), 0);
}

TEST(TlsPolicies, SessionsOfTheSameBackendResume) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .ca = root.certificate}}, .settings = "timeouts: {upstreamIdle: 100ms}\n"});
  EXPECT_THAT(askInTime(gateway), HasSubstr(" 200 "));
  EXPECT_TRUE(gateway.limitWasHit("upstreamIdle"));
  EXPECT_THAT(askInTime(gateway), HasSubstr(" 200 "));
  EXPECT_EQ(gateway.metric(kFull), 1);
  EXPECT_EQ(gateway.metric(kResumed), 1);
}

// --- the system's authorities
// -----------------------------------------------------------------------------------------------

TEST(SystemAuthorities, LeaveWithTheBundleAtTheNextReload) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  const TempDir folder;
  const std::string bundle = folder.write("bundle.pem", root.certificate);
  const std::string backend =
      "---\napiVersion: gateway.networking.k8s.io/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: public}\n"
      "spec:\n  destination:\n    type: FQDN\n    fqdn: {hostname: origin.test, port: " +
      std::to_string(origin.port()) + "}\n  tls: {mode: Terminate}\n";
  const GatewaySpec spec = {.backends = {{.port = origin.port()}},
                            .routes = routes(ruleOfPrefix("/", "public")) + backend,
                            .environment = {"SSL_CERT_FILE=" + bundle}};
  GatewayProcess gateway(spec);
  EXPECT_THAT(askInTime(gateway), HasSubstr(" 200 "));
  gateway.reload(spec, "unchanged");
  EXPECT_THAT(askInTime(gateway), HasSubstr(" 200 "));

  folder.write("bundle.pem", makeAuthority("Another Authority").certificate);
  gateway.reload(spec, "success");
  EXPECT_THAT(askInTime(gateway), HasSubstr("tls_certificate_error"));
}

// --- the handshake
// --------------------------------------------------------------------------------------------------------

TEST(ServerName, IsTheHostnameWhateverTheClientAskedFor) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root.certificate}},
                                .tls = issueServer(makeAuthority(), "client.test")});
  const std::string port = std::to_string(gateway.tlsPort());
  const ProgramOutcome got =
      run({"curl", "-sSk", "--resolve", "client.test:" + port + ":127.0.0.1", "https://client.test:" + port + "/"});
  EXPECT_EQ(echoed(got.output, "sni"), "origin.test") << got.output << got.errors;
}

TEST(ServerName, IsTheBackendsSniIfItHasOne) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "front.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root.certificate, .sni = "front.test"}}});
  const std::string answer = askInTime(gateway);
  EXPECT_EQ(echoed(answer, "sni"), "front.test") << answer;
  EXPECT_EQ(echoed(answer, "authority"), "origin.test:" + std::to_string(origin.port()));
}

/// Runs openssl s_server, which answers every request with a page about the connection.
class OpensslServer {
 public:
  OpensslServer(const CertifiedKey& identity, std::vector<std::string> options) {
    std::vector<std::string> argv = {"openssl",
                                     "s_server",
                                     "-accept",
                                     "127.0.0.1:" + std::to_string(port_),
                                     "-www",
                                     "-cert",
                                     folder_.write("origin.crt", identity.certificate),
                                     "-key",
                                     folder_.write("origin.key", identity.key)};
    argv.insert(argv.end(), options.begin(), options.end());
    process_ = std::make_unique<ChildProcess>(argv);
    if (!waitForPort(port_)) ADD_FAILURE() << process_->errors();
  }
  std::uint16_t port() const { return port_; }

 private:
  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::unique_ptr<ChildProcess> process_;
};

class OriginTlsVersions : public testing::Test {
 protected:
  std::string askOver(const std::string& version) {
    // OpenSSL uses the old versions only at security level 0.
    const OpensslServer origin(issueServer(root_, "origin.test"), {version, "-cipher", "ALL:@SECLEVEL=0"});
    const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = root_.certificate}}});
    return askInTime(gateway);
  }
  CertifiedKey root_ = makeAuthority();
};

TEST_F(OriginTlsVersions, AreAcceptedFromOnePointTwoOn) {
  EXPECT_THAT(askOver("-tls1_2"), HasSubstr(" 200 "));
  EXPECT_THAT(askOver("-tls1_3"), HasSubstr(" 200 "));
}

TEST_F(OriginTlsVersions, AreRefusedBelowOnePointTwo) {
  const std::string answer = askOver("-tls1_1");
  EXPECT_THAT(answer, HasSubstr(" 502 "));
  EXPECT_THAT(answer, HasSubstr("tls_protocol_error"));
}

TEST(OldTls, IsRefusedEvenIfTheBackendInsists) {
  // This is a ServerHello of TLS 1.1 (RFC 4346 section 7.4.1.3): version 3.2, a random, no session, AES-128-CBC-SHA.
  std::string hello("\x16\x03\x02\x00\x2a\x02\x00\x00\x26\x03\x02", 11);
  hello += std::string(32, 'r') + std::string("\x00\x00\x2f\x00", 4);
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin&) {
    socket.readExactly(5);
    socket.send(hello);
    socket.readAll();
  });
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = makeAuthority().certificate}}});
  const std::string answer = askInTime(gateway);
  EXPECT_THAT(answer, HasSubstr(" 502 "));
  EXPECT_THAT(answer, HasSubstr("tls_protocol_error"));
  EXPECT_THAT(answer, HasSubstr("unsupported protocol"));
}

TEST(ClientCertificates, AreUsedForTheirBackendOnly) {
  const CertifiedKey root = makeAuthority();
  const OpensslServer origin(issueServer(root, "origin.test"), {"-verify", "1"});
  const auto tenant = [&](const std::string& name, const std::optional<CertifiedKey>& client) {
    return BackendSpec{.name = name, .port = origin.port(), .ca = root.certificate, .client = client};
  };
  const GatewayProcess gateway(
      {.backends = {tenant("one", issueClient(root, "tenant-one")), tenant("two", issueClient(root, "tenant-two")),
                    tenant("none", std::nullopt)},
       .routes = routes(ruleOfPrefix("/one", "one") + ruleOfPrefix("/two", "two") + ruleOfPrefix("/none", "none"))});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(askInTime(gateway, "/one"), AllOf(HasSubstr("tenant-one"), Not(HasSubstr("tenant-two"))));
    EXPECT_THAT(askInTime(gateway, "/two"), AllOf(HasSubstr("tenant-two"), Not(HasSubstr("tenant-one"))));
    EXPECT_THAT(askInTime(gateway, "/none"), AllOf(HasSubstr(" 200 "), Not(HasSubstr("tenant-"))));
  }
}

TEST(Passthrough, IsReportedAndAnswered500ForAnHttpRoute) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const std::string backend =
      "apiVersion: gateway.networking.k8s.io/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: through}\n"
      "spec:\n  destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
      std::to_string(origin.port()) + "}}\n  tls: {mode: Passthrough}\n---\n";
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = backend + routes(ruleOfPrefix("/", "through"))});
  const std::string answer = askInTime(gateway);
  EXPECT_THAT(answer, HasSubstr(" 500 "));
  EXPECT_THAT(answer, HasSubstr("proxy_configuration_error"));
  const std::string status =
      run({"curl", "-sS", "http://127.0.0.1:" + std::to_string(gateway.adminPort()) + "/status"}).output;
  EXPECT_THAT(status, HasSubstr("UnsupportedProtocol"));
  EXPECT_EQ(origin.connections(), 0);
}

}  // namespace
}  // namespace sluice::test
