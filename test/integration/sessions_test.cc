// Tests sessionPersistence through the binary with curl's cookie jar, raw clients of both versions and grpc-js, while
// endpoints and weighted backends come and go, over several workers, reloads and restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSettings =
    "sessionPersistence: {secretRef: {namespace: test, name: sessions, key: now, previousKey: before}}\n";

std::string keys(char now, char before) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: sessions}\nstringData: {now: " +
         std::string(32, now) + ", before: " + std::string(32, before) + "}\n---\n";
}

/// Returns the Service shop, with endpoints at these ports.
std::string shop(const std::vector<std::uint16_t>& ports) {
  std::string text =
      "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\nspec: {ports: [{name: web, port: "
      "80}]}\n---\n";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    text += "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: shop-" +
            std::to_string(i) +
            ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
            std::to_string(ports[i]) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n---\n";
  }
  return text;
}

std::string routeWithSession(const std::string& session, const std::string& shares = "{name: shop, port: 80}",
                             const std::string& kind = "HTTPRoute", const std::string& more = {}) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind +
         "\nmetadata: {namespace: test, name: all}\nspec: {parentRefs: [{name: egress}], rules: "
         "[{sessionPersistence: " +
         session + ", backendRefs: [" + shares + "]" + more + "}]}\n";
}
std::string share(const std::string& name, int weight, const std::string& more = {}) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + ", weight: " + std::to_string(weight) +
         more + "}";
}

GatewaySpec servingDocuments(const std::string& documents, const std::string& settings = {}) {
  GatewaySpec spec;
  spec.routes = documents;
  spec.settings = settings;
  return spec;
}

std::string valueOf(const ReceivedResponse& response) {
  const std::string cookie = response.field("set-cookie").value_or("");
  if (!cookie.starts_with("sid=")) return {};
  return cookie.substr(4, cookie.find(';') - 4);
}

ReceivedResponse askForSession(std::uint16_t port, const std::string& fields = {}) {
  BlockingSocket client = BlockingSocket::connect(port);
  client.send("GET / HTTP/1.1\r\nHost: client.test\r\n" + fields + "\r\n");
  return readResponse(client);
}
ReceivedResponse resume(std::uint16_t port, const std::string& value) {
  return askForSession(port, "Cookie: sid=" + value + "\r\n");
}

class SessionsOfClients : public testing::Test {
 protected:
  /// Expects that requests with this value, each on a connection of its own, all get this answer and no new value.
  static void expectStays(std::uint16_t port, const std::string& value, const std::string& body, int times = 6) {
    for (int i = 0; i < times; ++i) {
      const ReceivedResponse next = resume(port, value);
      EXPECT_EQ(next.status, 200);
      EXPECT_EQ(next.body, body);
      EXPECT_FALSE(next.field("set-cookie"));
    }
  }
  std::string two(const std::string& session = "{sessionName: sid}") const {
    return shop({one_.port(), two_.port()}) + routeWithSession(session);
  }
  std::string other(const std::string& body) const { return body == "one" ? "two" : "one"; }
  std::uint16_t portOf(const std::string& body) const { return body == "one" ? one_.port() : two_.port(); }

  RawOrigin one_{RawOrigin::answering(saying("one"))};
  RawOrigin two_{RawOrigin::answering(saying("two"))};
};

TEST_F(SessionsOfClients, AreKeptByCurlsCookieJarInEitherVersion) {
  const GatewayProcess gateway(servingDocuments(two("{}")));
  for (const std::string version : {"--http1.1", "--http2-prior-knowledge"}) {
    const TempDir folder;
    const std::string jar = folder.path() + "/jar";
    std::set<std::string> bodies;
    for (int i = 0; i < 6; ++i) {
      bodies.insert(run({"curl", "-sS", version, "-b", jar, "-c", jar, gateway.url("/a/b")}).output);
    }
    EXPECT_EQ(bodies.size(), 1U) << version;
    std::ifstream file(jar);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("#HttpOnly_127.0.0.1"));
    EXPECT_THAT(text.str(), HasSubstr("sluice-session-")) << "the name of a rule that gives none";
  }
}

TEST_F(SessionsOfClients, BeginAtAnyEndpoint) {
  const GatewayProcess gateway(servingDocuments(two()));
  std::set<std::string> bodies;
  for (int i = 0; i < 40 && bodies.size() < 2; ++i) bodies.insert(askForSession(gateway.port()).body);
  EXPECT_EQ(bodies.size(), 2U);
}

TEST_F(SessionsOfClients, RevealNoEndpointAndAreKeptFromTheOrigin) {
  const GatewayProcess gateway(servingDocuments(two()));
  const ReceivedResponse first = askForSession(gateway.port(), "Cookie: a=1\r\n");
  EXPECT_THAT(first.field("set-cookie").value_or(""),
              MatchesRegex("sid=[A-Za-z0-9_-]+; Path=/; HttpOnly; SameSite=Strict"));
  expectStays(gateway.port(), valueOf(first), first.body, 1);
  EXPECT_THAT(askForSession(gateway.port(), "Cookie: a=1; sid=" + valueOf(first) + "; b=2\r\n").body, first.body);
  const RawOrigin& origin = first.body == "one" ? one_ : two_;
  EXPECT_THAT(origin.heads().at(0), HasSubstr("Cookie: a=1\r\n"));
  EXPECT_THAT(origin.heads().at(1), Not(HasSubstr("ookie")));
  EXPECT_THAT(origin.heads().at(2), HasSubstr("Cookie: a=1; b=2\r\n"));
}

TEST_F(SessionsOfClients, AreReadFromTheCrumbsOfHttp2) {
  const GatewayProcess gateway(servingDocuments(two()));
  const ReceivedResponse first = askForSession(gateway.port());
  const RawOrigin& origin = first.body == "one" ? one_ : two_;
  H2Client client(gateway.port());
  for (std::uint32_t stream = 1; stream < 12; stream += 2) {
    H2Lines lines = h2::get("/");
    lines.emplace_back("cookie", "a=1");
    lines.emplace_back("cookie", "sid=" + valueOf(first));
    lines.emplace_back("cookie", "b=2");
    client.send(h2::headers(stream, lines, true));
    ASSERT_TRUE(client.readStream(stream));
    EXPECT_EQ(client.seen().body(stream), first.body);
    EXPECT_EQ(client.seen().find(H2Type::kHeaders, stream)->value("set-cookie"), "");
  }
  EXPECT_THAT(origin.heads().back(), HasSubstr("cookie: a=1; b=2\r\n"));
}

TEST_F(SessionsOfClients, BeginAnewIfTheyAreForged) {
  const GatewayProcess gateway(servingDocuments(two()));
  const std::string value = valueOf(askForSession(gateway.port()));
  std::string changed = value;
  changed.back() = changed.back() == 'A' ? 'Q' : 'A';
  for (const std::string& forged : {std::string(), std::string("x"), changed, value + "A", std::string(20000, 'A'),
                                    std::string(value.size(), '\xff'), "\"" + changed + "\""}) {
    const ReceivedResponse next = resume(gateway.port(), forged);
    EXPECT_EQ(next.status, 200);
    EXPECT_NE(valueOf(next), "");
  }
}

TEST_F(SessionsOfClients, AreSecureCookiesOverTls) {
  const CertifiedKey authority = makeAuthority();
  GatewaySpec spec =
      servingDocuments(two("{sessionName: sid, absoluteTimeout: 1h, cookieConfig: {lifetimeType: Permanent}}"));
  spec.tls = issueServer(authority, "localhost");
  const GatewayProcess gateway(spec);
  const TempDir folder;
  const ProgramOutcome got = run({"curl", "-sS", "-i", "--cacert", folder.write("ca.crt", authority.certificate),
                                  "https://localhost:" + std::to_string(gateway.tlsPort()) + "/"});
  EXPECT_THAT(got.output, HasSubstr("; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=3600\r\n")) << got.errors;
  EXPECT_THAT(askForSession(gateway.port()).head, HasSubstr("; SameSite=Strict; Max-Age=3600\r\n"));
}

TEST_F(SessionsOfClients, HoldOnEveryWorkerAndAcrossReloads) {
  GatewaySpec spec = servingDocuments(two());
  spec.workers = 4;
  GatewayProcess gateway(spec);
  const ReceivedResponse first = askForSession(gateway.port());
  expectStays(gateway.port(), valueOf(first), first.body, 20);
  spec.settings = "timeouts: {streamIdle: 200s}\n";
  gateway.reload(spec);
  expectStays(gateway.port(), valueOf(first), first.body, 20);
}

TEST_F(SessionsOfClients, GoToAnotherEndpointWhenTheirsLeaves) {
  GatewayProcess gateway(servingDocuments(two()));
  const ReceivedResponse first = askForSession(gateway.port());
  const std::string left = other(first.body);
  gateway.reload(servingDocuments(shop({portOf(left)}) + routeWithSession("{sessionName: sid}")));
  const ReceivedResponse moved = resume(gateway.port(), valueOf(first));
  EXPECT_EQ(moved.body, left);
  ASSERT_NE(valueOf(moved), "");
  gateway.reload(servingDocuments(two()));
  expectStays(gateway.port(), valueOf(moved), left);
}

TEST_F(SessionsOfClients, GoToAnotherEndpointWhenTheirsIsDead) {
  auto dying = std::make_unique<RawOrigin>(RawOrigin::answering(saying("dying")));
  const std::string documents = shop({one_.port(), dying->port()}) + routeWithSession("{sessionName: sid}");
  const GatewayProcess gateway(servingDocuments(documents));
  ReceivedResponse first = askForSession(gateway.port());
  for (int i = 0; i < 100 && first.body != "dying"; ++i) first = askForSession(gateway.port());
  ASSERT_EQ(first.body, "dying");
  dying.reset();
  const ReceivedResponse moved = resume(gateway.port(), valueOf(first));
  EXPECT_EQ(moved.status, 200);
  EXPECT_EQ(moved.body, "one");
  ASSERT_NE(valueOf(moved), "");
  expectStays(gateway.port(), valueOf(moved), "one");
}

TEST_F(SessionsOfClients, StayWithABackendWhateverItsWeightBecomes) {
  const auto spec = [&](int one, int two) {
    GatewaySpec made =
        servingDocuments(routeWithSession("{sessionName: sid}", share("one", one) + ", " + share("two", two)));
    made.backends = {{.name = "one", .hostname = "one.test", .port = one_.port()},
                     {.name = "two", .hostname = "two.test", .port = two_.port()}};
    return made;
  };
  GatewayProcess gateway(spec(1, 1));
  const ReceivedResponse first = askForSession(gateway.port());
  expectStays(gateway.port(), valueOf(first), first.body);
  const bool atOne = first.body == "one";
  gateway.reload(spec(atOne ? 0 : 1, atOne ? 1 : 0));
  expectStays(gateway.port(), valueOf(first), first.body);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(askForSession(gateway.port()).body, other(first.body)) << "no new one goes there";
}

TEST_F(SessionsOfClients, OutliveTheProcessAndItsKeyIfASecretHoldsIt) {
  ReceivedResponse first;
  {
    const GatewayProcess gateway(servingDocuments(keys('a', 'z') + two(), kSettings));
    first = askForSession(gateway.port());
    EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("aaaaaaaa")));
  }
  GatewayProcess gateway(servingDocuments(keys('a', 'z') + two(), kSettings));
  expectStays(gateway.port(), valueOf(first), first.body);
  gateway.reload(servingDocuments(keys('b', 'a') + two(), kSettings));
  const ReceivedResponse renewed = resume(gateway.port(), valueOf(first));
  EXPECT_EQ(renewed.body, first.body);
  ASSERT_NE(valueOf(renewed), "") << "sealed anew";
  gateway.reload(servingDocuments(keys('c', 'b') + two(), kSettings));
  EXPECT_EQ(resume(gateway.port(), valueOf(renewed)).body, first.body);
  EXPECT_NE(valueOf(resume(gateway.port(), valueOf(first))), "") << "its key is no longer known";
}

TEST_F(SessionsOfClients, EndWithTheProcessIfItMadeTheKey) {
  std::string value;
  {
    const GatewayProcess gateway(servingDocuments(two()));
    value = valueOf(askForSession(gateway.port()));
  }
  const GatewayProcess gateway(servingDocuments(two()));
  EXPECT_NE(valueOf(resume(gateway.port(), value)), "");
}

TEST_F(SessionsOfClients, AreRefusedWhileTheSecretIsMissing) {
  GatewayProcess gateway(servingDocuments(two(), kSettings));
  EXPECT_EQ(askForSession(gateway.port()).status, 500);
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("Secret test/sessions: it does not exist"));
  gateway.reload(servingDocuments(keys('a', 'b') + two(), kSettings));
  EXPECT_NE(valueOf(askForSession(gateway.port())), "");
}

TEST_F(SessionsOfClients, EndWhenTheirTimeIsOver) {
  const GatewayProcess gateway(servingDocuments(two("{sessionName: sid, absoluteTimeout: 1ms}")));
  const std::string value = valueOf(askForSession(gateway.port()));
  ASSERT_TRUE(eventually([&] { return !valueOf(resume(gateway.port(), value)).empty(); }));
}

TEST(SessionsOfCalls, AreCarriedByAFieldOfTheMetadata) {
  ChildProcess origin({"node", std::string(kClients) + "grpc_origin.mjs"});
  const auto line = origin.waitForLine("listening on ");
  ASSERT_TRUE(line) << origin.errors();
  const auto port = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  // Each weighted backend marks its answers in the field that the client prints; a new session's value replaces the
  // mark.
  const auto marked = [](const std::string& mark) {
    return ", filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-leading, value: " +
           mark + "}]}}]";
  };
  GatewaySpec spec = servingDocuments(
      routeWithSession("{type: Header, sessionName: X-Leading}",
                       share("one", 1, marked("one")) + ", " + share("two", 1, marked("two")), "GRPCRoute"));
  spec.backends = {{.name = "one", .hostname = "one.test", .port = port},
                   {.name = "two", .hostname = "two.test", .port = port}};
  const GatewayProcess gateway(spec);
  const auto call = [&](const std::vector<std::string>& calls) {
    std::vector<std::string> argv = {"node", std::string(kClients) + "grpc_call.mjs",
                                     "127.0.0.1:" + std::to_string(gateway.port())};
    argv.insert(argv.end(), calls.begin(), calls.end());
    const ProgramOutcome got = run(argv);
    EXPECT_EQ(got.exitCode, 0) << got.errors;
    return got.output;
  };
  const std::string first = call({"/sluice.test.Echo/Unary"});
  ASSERT_THAT(first, MatchesRegex("0 OK [A-Za-z0-9_-]+\n"));
  const std::string value = first.substr(5, first.size() - 6);
  const std::string again = call(std::vector<std::string>(8, "/sluice.test.Echo/Unary,x-leading=" + value));
  const std::string mark = again.substr(0, again.find('\n') + 1);
  EXPECT_THAT(mark, testing::AnyOf("0 OK one\n", "0 OK two\n"));
  std::string all;
  for (int i = 0; i < 8; ++i) all += mark;
  EXPECT_EQ(again, all);
}

}  // namespace
}  // namespace sluice::test
