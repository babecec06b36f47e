// Puts a canary into every secret: it must appear in no log, on no page and in no argument, whatever fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kCanary = "c4n4rYs3cr3t";
constexpr const char* kCanary64 = "YzRuNHJZczNjcjN0";  // in base64

/// Returns the second line of a PEM block, which holds bytes of the key only.
std::string keyMaterial(const CertifiedKey& identity) {
  const std::size_t begin = identity.key.find('\n') + 1;
  return identity.key.substr(begin, identity.key.find('\n', begin) - begin).substr(30, 20);
}

/// Returns the text around the secret; empty if the text does not contain it.
std::string shown(const std::string& text, const std::string& secret) {
  const std::size_t at = text.find(secret);
  return at == std::string::npos ? "" : text.substr(at < 200 ? 0 : at - 200, 400);
}

class Confidentiality : public testing::Test {
 protected:
  static std::string page(std::uint16_t port, const std::string& target) {
    BlockingSocket client = BlockingSocket::connect(port);
    client.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const ReceivedResponse got = readResponse(client);
    return got.head + got.body;
  }
  /// Returns everything that a third party may come to read.
  static std::string visible(GatewayProcess& gateway) {
    const std::string proc = "/proc/" + std::to_string(gateway.process().pid());
    std::string all = readFile(proc + "/cmdline");
    for (const char* target : {"/status", "/metrics", "/catalog", "/exchanges", "/events", "/explain", "/validate",
                               "/config", "/debug/pprof"}) {
      all += page(gateway.adminPort(), target);
      all += page(gateway.healthPort(), target);
    }
    return all + gateway.process().output() + gateway.process().errors();
  }
};

TEST_F(Confidentiality, HoldsForSecretsOfRequests) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nSet-Cookie: id=" + std::string(kCanary) +
                                        "\r\nContent-Length: 2\r\n\r\nok"));
  const std::string everywhere = "Authorization: Bearer " + std::string(kCanary) + "\r\nProxy-Authorization: Basic " +
                                 kCanary64 + "\r\nCookie: id=" + kCanary + "\r\nX-Api-Key: " + kCanary + "\r\n";
  const std::string c = kCanary;
  const std::vector<std::string> requests = {
      "GET /?token=" + c + " HTTP/1.1\r\nHost: a\r\n" + everywhere + "\r\n",
      "POST /gone?" + c + " HTTP/1.1\r\nHost: a\r\n" + everywhere + "Content-Length: 12\r\n\r\n" + c,
      "CONNECT user:" + c + "@a:443 HTTP/1.1\r\nHost: a:443\r\n" + everywhere + "\r\n",
      "GET http://user:" + c + "@a/ HTTP/1.1\r\nHost: a\r\n" + everywhere + "\r\n",
      "GET / HTTP/1.1\r\nHost: user:" + c + "@a\r\n\r\n",
      "GET /#" + c + " HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer " + c + "\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer\x01" + c + "\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + c + "\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: " + c + "\r\n\r\n",
  };
  GatewayProcess gateway(
      {.backends = {{.port = origin.port()}, {.name = "gone", .hostname = "gone.test", .port = freePort()}},
       .routes = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
                 "metadata: {namespace: test, name: all}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n"
                 "    - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n"
                 "    - matches: [{path: {value: /gone}}]\n      backendRefs: [{group: "
                 "gateway.networking.k8s.io, kind: Backend, name: gone}]\n",
       .options = {"--log-level", "trace"}});
  std::string answers;
  for (const std::string& request : requests) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(request);
    const ReceivedResponse got = readResponse(client);
    EXPECT_NE(got.status, 0) << request;
    if (got.status >= 400) answers += got.head + got.body;
  }
  H2Client client(gateway.port());
  H2Lines lines = h2::get("/?" + c);
  lines.emplace_back("authorization", "Bearer " + c);
  lines.emplace_back("bad name", c);
  client.send(h2::headers(1, lines, true));
  EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
  EXPECT_GE(gateway.accessLog(requests.size()).size(), requests.size());
  EXPECT_THAT(origin.heads().front(), HasSubstr(c)) << "the origin gets it";
  EXPECT_EQ(shown(answers, c), "") << "not even in what the gateway answers itself";
  EXPECT_EQ(shown(visible(gateway), c), "");
  EXPECT_EQ(shown(visible(gateway), kCanary64), "");
}

TEST_F(Confidentiality, HoldsForSecretsOfTheConfiguration) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin origin(issueServer(root, "origin.test"));
  const CertifiedKey client = issueClient(root, "tenant");
  const CertifiedKey listener = issueServer(root, "listener.test");
  const std::string c = kCanary;
  const std::string broken =
      "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: opaque}\ntype: Opaque\n"
      "stringData: {token: " +
      c + ", list: [" + c + "], map: {" + c + ": " + c + "}}\ndata: {other: " + kCanary64 + ", bad: \"" + c +
      "!\"}\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: torn}\ntype: kubernetes.io/tls\n"
      "stringData: {tls.crt: \"-----BEGIN CERTIFICATE-----\\n" +
      c +
      "\\n-----END CERTIFICATE-----\", "
      "tls.key: \"-----BEGIN PRIVATE KEY-----\\n" +
      c +
      "\\n-----END PRIVATE KEY-----\"}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: second}\nspec:\n"
      "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n"
      "  listeners: [{name: a, protocol: HTTPS, port: " +
      std::to_string(freePort()) + ", tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: torn}]}}]\n";
  GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .ca = root.certificate, .client = client}},
       .routes = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
                 "metadata: {namespace: test, name: all}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n"
                 "    - backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n" +
                 broken,
       .tls = listener,
       .options = {"--log-level", "trace"}});
  EXPECT_EQ(run({"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", gateway.url("/")}).output, "200");
  const TempDir folder;
  folder.write("broken.yaml", broken);
  folder.write("torn.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {token: [" + c + "\n");
  const ProgramOutcome validated = run({programPath("sluice"), "validate", "--config", folder.path()});
  EXPECT_EQ(validated.exitCode, 1);
  const std::string all = visible(gateway) + validated.output + validated.errors;
  for (const std::string& secret : {c, std::string(kCanary64), keyMaterial(client), keyMaterial(listener)}) {
    EXPECT_EQ(shown(all, secret), "");
  }
}

}  // namespace
}  // namespace sluice::test
