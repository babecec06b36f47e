// Tests certificates of clients through the binary, with curl as the client: each kind of certificate at each kind of
// listener, over HTTP/1.1, HTTP/2 and by the forward proxy. Handshakes, logs and metrics are compared with a table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// The listeners at which a way asks.
enum class AskedListener { kSecure, kLenient, kUnasked, kProxy };

struct CallingWay {
  const char* name;
  AskedListener listener;
  std::vector<std::string> options;  // of curl
  const char* attemptSeries;         // that counts one more attempt; empty if the way makes none
};

const CallingWay kCallingWays[] = {
    {"Http1", AskedListener::kSecure, {"--http1.1"}, kAttempts},
    {"Http2", AskedListener::kSecure, {"--http2"}, kAttempts},
    {"Http1OverTls12", AskedListener::kSecure, {"--http1.1", "--tls-max", "1.2"}, kAttempts},
    {"LenientHttp1", AskedListener::kLenient, {"--http1.1"}, kAttempts},
    {"LenientHttp2", AskedListener::kLenient, {"--http2"}, kAttempts},
    {"UnaskedHttp1", AskedListener::kUnasked, {"--http1.1"}, kAttempts},
    {"UnaskedHttp2", AskedListener::kUnasked, {"--http2"}, kAttempts},
    {"ProxiedRequest", AskedListener::kProxy, {}, kAttempts},
    {"Tunnel", AskedListener::kProxy, {"--proxytunnel"}, ""},
};

/// A kind of certificate, with the callers that the listeners make of it.
struct CertificateCell {
  const char* name;
  std::optional<CertifiedKey> client;
  std::optional<LoggedCaller> strictly;  // nothing: no handshake
};

class ClientCertificates : public testing::TestWithParam<CallingWay> {
 protected:
  void SetUp() override {
    stage_.revoked = revocationList(stage_.authority, {revoked_});
    stage_.start();
  }

  std::vector<CertificateCell> cells() const {
    const CertifiedKey& ca = stage_.authority;
    const std::string cart = spiffeId("shop", "cart");
    CertificateSpec expired;
    expired.notBefore = std::chrono::hours(-48);
    expired.notAfter = std::chrono::hours(-24);
    CertificateSpec early;
    early.notBefore = std::chrono::hours(24);
    early.notAfter = std::chrono::hours(48);
    CertificateSpec server;
    server.extendedKeyUsage = "serverAuth";
    CertificateSpec named;
    named.dnsNames = {"cart.shop.test"};
    CertificateSpec alone;
    alone.uris = {cart};
    const std::string foreign = spiffeId("shop", "cart", "elsewhere.test");
    return {
        {"right", stage_.account("shop", "cart"), certifiedCaller("shop", "cart")},
        {"another account", stage_.account("bank", "teller"), certifiedCaller("bank", "teller")},
        {"a foreign trust domain", clientOf(ca, {foreign}), LoggedCaller{"", "", foreign, "Certificate"}},
        {"another path", clientOf(ca, {"spiffe://cluster.local/cart"}),
         LoggedCaller{"", "", "spiffe://cluster.local/cart", "Certificate"}},
        {"two SPIFFE IDs", clientOf(ca, {cart, spiffeId("bank", "teller")}),
         LoggedCaller{"", "", "CN=test", "Certificate"}},
        {"a DNS name", clientOf(ca, {}, named), LoggedCaller{"", "", "cart.shop.test", "Certificate"}},
        {"an unknown authority", clientOf(makeAuthority("Client Authority"), {cart}), std::nullopt},
        {"self-signed", selfSigned(alone), std::nullopt},
        {"expired", clientOf(ca, {cart}, expired), std::nullopt},
        {"not yet valid", clientOf(ca, {cart}, early), std::nullopt},
        {"revoked", revoked_, std::nullopt},
        {"of a server", clientOf(ca, {cart}, server), std::nullopt},
        {"absent", std::nullopt, std::nullopt},
    };
  }

  /// Returns the caller that is expected of a request; nothing if there is no handshake.
  static std::optional<LoggedCaller> expectedOf(const CertificateCell& cell) {
    switch (GetParam().listener) {
      case AskedListener::kUnasked:
        return LoggedCaller();
      case AskedListener::kLenient:
        return cell.strictly ? *cell.strictly : LoggedCaller();
      default:
        return cell.strictly;
    }
  }

  /// Returns the status that curl gets; "000" if there was no handshake.
  std::string ask(const std::optional<CertifiedKey>& client) const {
    const bool proxied = GetParam().listener == AskedListener::kProxy;
    const std::string prefix = proxied ? "--proxy-" : "--";
    std::vector<std::string> command = {"curl",
                                        "-sS",
                                        "--max-time",
                                        "60",
                                        "-o",
                                        "/dev/null",
                                        "-w",
                                        "%{http_code}",
                                        prefix + "cacert",
                                        folder_.write("ca.crt", stage_.serverAuthority.certificate)};
    if (client) {
      command.insert(command.end(), {prefix + "cert", folder_.write("client.crt", client->certificate), prefix + "key",
                                     folder_.write("client.key", client->key)});
    }
    command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
    const std::string url = "https://localhost:" + std::to_string(port());
    if (proxied) command.insert(command.end(), {"-x", url});
    command.push_back(proxied ? stage_.originUrl() : url + "/");
    return run(command).output;
  }
  std::uint16_t port() const {
    switch (GetParam().listener) {
      case AskedListener::kSecure:
        return stage_.secure;
      case AskedListener::kLenient:
        return stage_.lenient;
      case AskedListener::kUnasked:
        return stage_.unasked;
      case AskedListener::kProxy:
        break;
    }
    return stage_.proxy;
  }

  /// Asks as the client of the cell, and compares what came of it.
  void judge(const CertificateCell& cell) {
    SCOPED_TRACE(cell.name);
    const std::optional<LoggedCaller> expected = expectedOf(cell);
    const std::size_t heard = stage_.origin.heads().size();
    if (!expected) {
      EXPECT_EQ(ask(cell.client), "000");
      EXPECT_EQ(stage_.origin.heads().size(), heard);
      return;
    }
    const double served = countedOf(*stage_.gateway, kServedRequests, *expected);
    const std::string series = GetParam().attemptSeries;
    const double attempts = series.empty() ? 0 : countedOf(*stage_.gateway, series, *expected);
    EXPECT_EQ(ask(cell.client), "200");
    EXPECT_EQ(stage_.origin.heads().size(), heard + 1);
    EXPECT_EQ(stage_.logged(++asked_), *expected);
    EXPECT_TRUE(eventually([&] { return countedOf(*stage_.gateway, kServedRequests, *expected) > served; }));
    EXPECT_EQ(countedOf(*stage_.gateway, kServedRequests, *expected), served + 1);
    if (!series.empty()) {
      EXPECT_EQ(countedOf(*stage_.gateway, series, *expected), attempts + 1);
    }
  }

  CallerStage stage_;
  const CertifiedKey revoked_ = stage_.account("shop", "cart");
  TempDir folder_;
  std::size_t asked_ = 0;
};

TEST_P(ClientCertificates, NameTheCallersOfTheTable) {
  for (const CertificateCell& cell : cells()) judge(cell);
  EXPECT_EQ(stage_.gateway->accessLog(asked_).size(), asked_) << "nothing was logged that was not served";
  const bool names = GetParam().listener != AskedListener::kUnasked;
  EXPECT_EQ(stage_.gateway->metric(judgementsOf("identified")) > 0, names);
  if (GetParam().listener == AskedListener::kLenient) {
    EXPECT_GT(stage_.gateway->metric(judgementsOf("absent")), 0) << "one client has shown no certificate";
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, ClientCertificates, testing::ValuesIn(kCallingWays),
                         [](const auto& given) { return given.param.name; });

// --- the labels of attempts

class CallersBehindRetries : public testing::TestWithParam<const char*> {};

TEST_P(CallersBehindRetries, AreThoseOfEachAttempt) {
  CallerStage stage;
  const RawOrigin busy(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  stage.spec.backends = {{.port = busy.port()}};
  stage.documents =
      CallerStage::routed("    - retry: {codes: [503], attempts: 2, backoff: 1ms}\n" + backendRefs()) +
      egressPolicy("p", kGatewayTarget, "rules: [" + allowing("cart", "from: {serviceAccounts: [shop/cart]}") + "]");
  stage.start();
  const CertifiedKey cart = stage.account("shop", "cart");
  const TempDir folder;
  const ProgramOutcome got =
      run({"curl", "-sS", GetParam(), "-o", "/dev/null", "-w", "%{http_code}", "--cacert",
           folder.write("ca.crt", stage.serverAuthority.certificate), "--cert",
           folder.write("client.crt", cart.certificate), "--key", folder.write("client.key", cart.key),
           "https://localhost:" + std::to_string(stage.secure) + "/"});
  EXPECT_EQ(got.output, "503") << got.errors;
  EXPECT_EQ(busy.heads().size(), 3U);
  EXPECT_EQ(stage.logged(1), certifiedCaller("shop", "cart"));
  EXPECT_EQ(countedOf(*stage.gateway, kAttempts, certifiedCaller("shop", "cart")), 3);
  EXPECT_EQ(countedOf(*stage.gateway, kAttempts, {}), 0);
  EXPECT_TRUE(stage.gateway->reaches(decisionsOf("p", "cart", "allowed"), 3)) << "each attempt is judged";
}

INSTANTIATE_TEST_SUITE_P(Protocols, CallersBehindRetries, testing::Values("--http1.1", "--http2"),
                         [](const auto& given) { return std::string(given.param) == "--http2" ? "Http2" : "Http1"; });

// --- a Gateway that verifies its clients, and nothing else

TEST(VerifiedClients, AreNobodyWithoutASource) {
  CallerStage stage;
  stage.spec.settings = "";
  stage.start();
  EXPECT_EQ(stage.status(stage.secure, stage.account("shop", "cart")), 200);
  EXPECT_EQ(stage.logged(1), LoggedCaller());
  EXPECT_EQ(stage.gateway->metric("sluice_identity_total"), 0);
  EXPECT_EQ(stage.status(stage.secure, std::nullopt), 0) << "they are verified all the same";
}

TEST(VerifiedClients, AreNamedByTheTrustDomainsOfNow) {
  CallerStage stage;
  stage.start();
  const TlsDoor door = stage.door(stage.secure, stage.account("shop", "cart"));
  BlockingSocket client = BlockingSocket::connect(door.port());
  EXPECT_EQ(askRaw(client).status, 200);
  EXPECT_EQ(stage.logged(1), certifiedCaller("shop", "cart"));
  stage.spec.settings = "identity: {sources: [{type: ClientCertificate, trustDomains: [elsewhere.test]}]}\n";
  stage.reload();
  EXPECT_EQ(askRaw(client).status, 200) << "the certificate is as valid as before";
  EXPECT_EQ(stage.logged(2), (LoggedCaller{"", "", spiffeId("shop", "cart"), "Certificate"}));
}

// A listener whose authorities are all missing admits nobody.
TEST(VerifiedClients, AreRefusedIfNoAuthorityIsLeft) {
  CallerStage stage;
  stage.start();
  EXPECT_EQ(stage.status(stage.secure, stage.account("shop", "cart")), 200);
  stage.trusted = "no certificate";
  stage.reload();
  EXPECT_NE(stage.status(stage.secure, stage.account("shop", "cart")), 200);
  EXPECT_EQ(stage.status(stage.unasked, std::nullopt), 200) << "other ports are served";
  EXPECT_THAT(stage.gateway->adminGet("/status"), HasSubstr("NoValidCACertificate"));
}

}  // namespace
}  // namespace sluice::test
