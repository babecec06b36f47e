// Tests the admin and health ports as operators, probes and strangers use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ReceivedResponse get(std::uint16_t port, const std::string& path, const std::string& host = "localhost") {
  return askRaw(port, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
}

/// The page whose answer goes on as long as the client looks.
constexpr const char* kEndless = "/page/data";

/// Returns the pages that the port lists when it is asked for an unknown one.
std::vector<std::string> pagesOf(std::uint16_t port) {
  std::vector<std::string> pages;
  std::istringstream in(get(port, "/no-such-page").body);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("GET ")) pages.push_back(line.substr(4));
  }
  return pages;
}

TEST(Admin, StatusNamesEveryObjectWithItsConditions) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  const ReceivedResponse got = askRaw(gateway.adminPort(), "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  for (const char* part : {"\"kind\":\"Gateway\"", "\"kind\":\"HTTPRoute\"", "\"kind\":\"Backend\"",
                           "\"type\":\"Accepted\"", "\"state\":\"InSync\""}) {
    EXPECT_THAT(got.body, HasSubstr(part));
  }
}

class AdminPorts : public testing::Test {
 protected:
  std::vector<std::uint16_t> ports() const { return {gateway_.adminPort(), gateway_.healthPort()}; }

  GatewayProcess gateway_{{.backends = {{.port = 9}}}};
};

TEST_F(AdminPorts, ListTheirPagesForAnUnknownOne) {
  EXPECT_EQ(get(gateway_.adminPort(), "/quitquitquit").status, 404);
  for (const char* page : {"/status", "/metrics", "/exchanges"})
    EXPECT_THAT(pagesOf(gateway_.adminPort()), Contains(page));
  EXPECT_THAT(pagesOf(gateway_.healthPort()), testing::UnorderedElementsAre("/healthz", "/readyz", "/metrics"));
}

TEST_F(AdminPorts, AnswerOnlyToAddressesAndLocalhostUnlessTheyAreForProbes) {
  for (const std::uint16_t port : ports()) {
    const bool any = port == gateway_.healthPort();
    for (const char* host : {"127.0.0.1:9901", "localhost", "LOCALHOST:1", "[::1]:9901", "10.1.2.3"}) {
      EXPECT_EQ(get(port, "/metrics", host).status, 200) << host;
    }
    for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "0x7f000001"}) {
      EXPECT_EQ(get(port, "/metrics", host).status, any ? 200 : 403) << host;
    }
    EXPECT_EQ(askRaw(port, "GET http://evil.example/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").status,
              any ? 200 : 403);
    EXPECT_EQ(askRaw(port, "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 400)
        << "the target and Host contradict each other";
    H2Client client(port);
    client.send(h2::headers(1, h2::get("/metrics"), true));  // sent to example.com
    ASSERT_TRUE(client.readStream(1));
    EXPECT_EQ(client.status(1), any ? "200" : "403");
  }
}

TEST_F(AdminPorts, RefuseOtherMethods) {
  const std::string before = get(gateway_.adminPort(), "/status").body;
  for (const std::uint16_t port : ports()) {
    for (const std::string& page : pagesOf(port)) {
      const std::string allowed = page == "/log-level" ? "GET, HEAD, PUT" : "GET, HEAD";
      for (const std::string method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUIT"}) {
        if (allowed.ends_with(method)) continue;
        const ReceivedResponse got =
            askRaw(port, method + (" " + page) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
        EXPECT_EQ(got.status, 405) << method << page;
        EXPECT_EQ(got.field("allow"), allowed) << method << page;
      }
    }
    const ReceivedResponse tunnel = askRaw(port, "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
    EXPECT_GE(tunnel.status, 400);
    EXPECT_LT(tunnel.status, 600);
  }
  EXPECT_EQ(get(gateway_.adminPort(), "/status").body, before);
  EXPECT_EQ(get(gateway_.healthPort(), "/readyz").status, 200);
}

TEST_F(AdminPorts, ChangeNothingWhenTheyAreRead) {
  ASSERT_TRUE(eventually([&] {
    return get(gateway_.adminPort(), "/revisions").body.find("\"served\":") != std::string::npos;
  })) << "the ledger tells of what is served a moment after it serves";
  std::vector<std::string> first;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> seen;
    for (const std::uint16_t port : ports()) {
      for (const std::string& page : pagesOf(port)) {
        if (page == kEndless) continue;
        const std::string query = page == "/explain"     ? "?url=http://any.test/"
                                  : page == "/page/rows" ? "?section=routes"
                                                         : "?reload=1&level=debug";
        const ReceivedResponse got = get(port, page + query);
        EXPECT_EQ(got.status, 200) << page;
        seen.push_back(got.body.substr(0, got.body.find("# HELP sluice_build_info")));  // CPU time goes on
      }
    }
    if (round == 0) first = seen;
    EXPECT_EQ(seen, first) << "the counters too: nothing of this is traffic";
  }
}

TEST_F(AdminPorts, AnswerHeadLikeGetWithoutTheBody) {
  for (const std::uint16_t port : ports()) {
    for (const std::string& page : pagesOf(port)) {
      if (page == kEndless) continue;
      const ReceivedResponse whole = get(port, page);
      const ReceivedResponse head = askRaw(port, "HEAD " + page + " HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
      EXPECT_EQ(head.status, whole.status) << page;
      EXPECT_EQ(head.field("content-length"), whole.field("content-length")) << page;
      EXPECT_EQ(head.field("content-type"), whole.field("content-type")) << page;
    }
  }
}

TEST_F(AdminPorts, ListenOnTheConfiguredAddresses) {
  std::ifstream in("/proc/" + std::to_string(gateway_.process().pid()) + "/net/tcp");
  const auto hex = [](std::uint16_t port) {
    char text[8];
    std::snprintf(text, sizeof text, ":%04X", port);
    return std::string(text);
  };
  std::stringstream all;
  all << in.rdbuf();
  EXPECT_THAT(all.str(), HasSubstr("0100007F" + hex(gateway_.adminPort()) + " 00000000:0000 0A"));
  EXPECT_THAT(all.str(), Not(HasSubstr("00000000" + hex(gateway_.adminPort()))));
}

TEST(Health, IsServedWhileTheDataPathAcceptsNoConnections) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "limits: {connections: 2}\n"});
  std::vector<BlockingSocket> holders;
  EXPECT_TRUE(eventually([&] {
    holders.push_back(BlockingSocket::connect(gateway.port()));
    return gateway.limitHits("connections") > 0;
  }));
  EXPECT_EQ(BlockingSocket::connect(gateway.port()).readAll(), "");
  for (const char* page : {"/healthz", "/readyz", "/metrics"}) EXPECT_EQ(get(gateway.healthPort(), page).status, 200);
  EXPECT_EQ(get(gateway.adminPort(), "/status").status, 200);
}

TEST(Health, IsServedWhileEveryWorkerWaitsForTheOrigin) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .settings = "limits: {backendRequests: 4}\ndrainTimeout: 1s\n"});
  std::vector<BlockingSocket> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(BlockingSocket::connect(gateway.port()));
    clients.back().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_TRUE(gateway.limitWasHit("backendRequests"));
  EXPECT_EQ(get(gateway.healthPort(), "/healthz").status, 200);
  EXPECT_EQ(get(gateway.healthPort(), "/readyz").status, 200);
  for (BlockingSocket& client : clients) client.reset();
}

TEST(Health, LeavesTheAdminPortItsConnectionsWhenItIsFull) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  std::vector<BlockingSocket> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(BlockingSocket::connect(gateway.healthPort()));
  EXPECT_EQ(get(gateway.adminPort(), "/status").status, 200);
  strangers.clear();
  EXPECT_TRUE(eventually([&] { return get(gateway.healthPort(), "/healthz").status == 200; }));
}

// --- the admin port through the data path

TEST(AdminThroughTheProxy, IsNotReachedByAHostField) {
  RawOrigin origin(RawOrigin::answering(kOk));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const std::string admin = "127.0.0.1:" + std::to_string(gateway.adminPort());
  for (const std::string& request :
       {"GET /status HTTP/1.1\r\nHost: " + admin + "\r\n\r\n",
        "GET http://" + admin + "/status HTTP/1.1\r\nHost: " + admin + "\r\n\r\n",
        "GET /status HTTP/1.1\r\nHost: localhost:" + std::to_string(gateway.adminPort()) + "\r\n\r\n"}) {
    EXPECT_EQ(askRaw(gateway.port(), request).body, "ok") << "it is the origin that answers";
  }
  const ReceivedResponse tunnel =
      askRaw(gateway.port(), "CONNECT " + admin + " HTTP/1.1\r\nHost: " + admin + "\r\n\r\n");
  EXPECT_GE(tunnel.status, 400);
  EXPECT_THAT(tunnel.body, Not(HasSubstr("InSync")));
}

TEST(AdminThroughTheProxy, IsNotReachedByABackendsAddress) {
  const GatewayProcess target({.backends = {{.port = 9}}});
  for (const char* address : {"127.0.0.1", "\"::ffff:127.0.0.1\"", "0.0.0.0"}) {
    const GatewayProcess gateway({.backends = {{.port = target.adminPort(), .addresses = address}}, .allow = ""});
    const ReceivedResponse got = get(gateway.port(), "/status", "127.0.0.1");
    EXPECT_EQ(got.status, 403) << address;
    EXPECT_THAT(got.body, HasSubstr("destination_ip_prohibited"));
  }
}

TEST(AdminThroughTheProxy, RefusesTheNameOfABackendWhereLoopbackIsAllowed) {
  const GatewayProcess target({.backends = {{.port = 9}}});
  const GatewayProcess gateway({.backends = {{.port = target.adminPort()}}});
  EXPECT_THAT(get(gateway.port(), "/status", "127.0.0.1").body, HasSubstr("not served here"));
}

// --- the process

// Both the sanitizer and the machine may forbid core files themselves; the test must not see either.
TEST(ProcessSafety, WritesNoCoreFile) {
  const char* options = std::getenv("ASAN_OPTIONS");
  ::setenv("ASAN_OPTIONS", (std::string(options != nullptr ? options : "") + ":disable_coredump=0").c_str(), 1);
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_CORE, &limit) != 0) {
    ::getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
  if (run({"sh", "-c", "ulimit -c"}).output == "0\n") GTEST_SKIP() << "this machine allows nobody a core file";
  GatewayProcess gateway({.backends = {{.port = 9}}});
  std::ifstream in("/proc/" + std::to_string(gateway.process().pid()) + "/limits");
  const std::string name = "Max core file size";
  std::string found;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name)) found = line.substr(name.size());
  }
  std::istringstream fields(found);
  std::string soft;
  std::string hard;
  fields >> soft >> hard;
  EXPECT_EQ(soft, "0");
  EXPECT_EQ(hard, "0");
}

TEST(Admin, ForeignWebPagesGetNoData) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  const std::string origin = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
  const ReceivedResponse read =
      askRaw(gateway.adminPort(), "GET /status HTTP/1.1\r\nHost: localhost\r\n" + origin + "\r\n");
  EXPECT_FALSE(read.field("access-control-allow-origin"));
  for (const std::string method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const ReceivedResponse got = askRaw(gateway.adminPort(), method + " /status HTTP/1.1\r\nHost: localhost\r\n" +
                                                                 origin + "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(got.status, 405) << method;
    EXPECT_FALSE(got.field("access-control-allow-origin")) << method;
  }
  EXPECT_EQ(askRaw(gateway.adminPort(), "GET http://evil.example/status HTTP/1.1\r\nHost: evil.example\r\n\r\n").status,
            403);
  H2Client client(gateway.adminPort());
  client.send(h2::headers(1, h2::get("/status"), true));  // sent to example.com
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "403");
}

/// Sends a request to the port with this Host.
std::string saidBy(std::uint16_t port, const std::string& path, const std::vector<std::string>& options = {}) {
  std::vector<std::string> command = {"curl",       "-sS", "-i",
                                      "--max-time", "30",  "http://127.0.0.1:" + std::to_string(port) + path};
  command.insert(command.end(), options.begin(), options.end());
  return run(command).output;
}

TEST(LogLevel, IsChangedWhileTheGatewayRuns) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const auto asked = [&] { run({"curl", "-sS", "--max-time", "30", gateway.url("/a?token=canary")}); };
  asked();
  EXPECT_EQ(gateway.process().said("\"severity\":\"DEBUG\""), 0U);
  EXPECT_THAT(saidBy(gateway.adminPort(), "/log-level", {"-X", "PUT", "-d", "debug"}), HasSubstr("\r\n\r\ndebug\n"));
  EXPECT_THAT(saidBy(gateway.adminPort(), "/log-level"), HasSubstr("\r\n\r\ndebug\n"));
  asked();
  EXPECT_TRUE(gateway.process().waitUntilSaid("an attempt has ended", 1));
  EXPECT_TRUE(gateway.process().waitUntilSaid("a client has connected", 1));
  EXPECT_EQ(gateway.process().said("canary"), 0U);
  EXPECT_THAT(saidBy(gateway.adminPort(), "/log-level", {"-X", "PUT", "-d", "loud"}), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(saidBy(gateway.adminPort(), "/log-level", {"-X", "PUT", "-d", "off", "-H", "Origin: http://127.0.0.1"}),
              HasSubstr("HTTP/1.1 403"));
  EXPECT_THAT(saidBy(gateway.adminPort(), "/log-level", {"-X", "PUT", "-d", "off", "-H", "Host: evil.test"}),
              HasSubstr("HTTP/1.1 403"));
  gateway.process().signal(SIGUSR1);
  EXPECT_TRUE(eventually(
      [&] { return saidBy(gateway.adminPort(), "/log-level").find("\r\n\r\ninfo\n") != std::string::npos; }));
}

TEST(AdminFrontPage, ListsThePages) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  const std::string admin = saidBy(gateway.adminPort(), "/");
  EXPECT_THAT(admin, HasSubstr("HTTP/1.1 200"));
  for (const char* page :
       {"GET /status\n", "GET /metrics\n", "GET /log-level\n", "PUT /log-level\n", "POST /validate\n"}) {
    EXPECT_THAT(admin, HasSubstr(page));
  }
  EXPECT_THAT(saidBy(gateway.healthPort(), "/"), HasSubstr("GET /readyz\n"));
}

TEST(HealthPort, AnswersAnyHost) {
  const GatewayProcess gateway({.backends = {{.port = 9}}});
  EXPECT_THAT(saidBy(gateway.healthPort(), "/readyz", {"-H", "Host: sluice.egress.svc"}), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(saidBy(gateway.adminPort(), "/status", {"-H", "Host: sluice.egress.svc"}), HasSubstr("HTTP/1.1 403"));
}

TEST(HealthPort, IsReadyOnceAConfigurationWasAcceptedEvenIfAllListenersAreClosed) {
  const std::string gatewayClass =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec: {controllerName: "
      "sluice.dev/egress-gateway}\n---\n";
  const std::string closed =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\nspec:\n"
      "  gatewayClassName: test\n  listeners: [{name: https, protocol: HTTPS, port: 443, tls: {certificateRefs: "
      "[{name: missing}]}}]\n";
  GatewayProcess gateway({.backends = {}, .text = closed, .waitFor = Started::kLive});
  EXPECT_TRUE(
      eventually([&] { return get(gateway.adminPort(), "/status").body.find("RollbackFailed") != std::string::npos; }));
  EXPECT_EQ(get(gateway.healthPort(), "/readyz").status, 503) << "it was refused, and there is no good one";
  gateway.replaceFile(gatewayClass + closed);
  EXPECT_TRUE(eventually([&] { return get(gateway.healthPort(), "/readyz").status == 200; }));
  gateway.reloadText(closed, "failure");
  EXPECT_EQ(get(gateway.healthPort(), "/readyz").status, 200) << "the good one stays";
}

TEST(HealthPort, AnswersByIpv6AndIpv4) {
  const TempDir folder;
  const std::string port = std::to_string(freePort());
  ChildProcess gateway({programPath("sluice"), "run", "--config", folder.write("a.yaml", "{["), "--admin",
                        "127.0.0.1:" + std::to_string(freePort()), "--health", "[::]:" + port});
  ASSERT_TRUE(waitForPort(static_cast<std::uint16_t>(std::stoi(port)))) << gateway.errors();
  for (const char* host : {"127.0.0.1", "[::1]"}) {
    EXPECT_EQ(
        run({"curl", "-sS", "-g", "--max-time", "30", "http://" + std::string(host) + ":" + port + "/healthz"}).output,
        "ok\n")
        << host;
  }
}

}  // namespace
}  // namespace sluice::test
