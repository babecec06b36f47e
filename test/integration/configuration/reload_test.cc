// Tests reloads of the running binary: changes take effect at once, everything else is undisturbed, and a configuration
// that cannot be served leaves the old one in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string servedRevision(const GatewayProcess& gateway) {
  const std::string status = gateway.adminGet("/status");
  const std::string key = "\"served\":\"";
  const std::size_t begin = status.find(key) + key.size();
  return status.substr(begin, status.find('"', begin) - begin);
}

std::string openConnections(const std::string& state) {
  return "http_client_open_connections{backend=\"test/origin\",http_connection_state=\"" + state + "\"}";
}

bool falls(const GatewayProcess& gateway, const std::string& series, double most) {
  return eventually([&] { return gateway.metric(series) <= most; });
}

/// Holds all its answers back until it is told to release them.
class SlowOrigin {
 public:
  std::uint16_t port() const { return origin_.port(); }
  bool wasAsked() const {
    return eventually([this] { return asked_.load(); });
  }
  void answer() { answers_ = true; }

 private:
  std::atomic<bool> asked_ = false;
  std::atomic<bool> answers_ = false;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) {
      asked_ = true;
      EXPECT_TRUE(eventually([this] { return answers_.load(); }));
      socket.send(saying("late"));
    }
  }};
};

/// Runs two origins, of which a configuration names one.
class Reload : public testing::Test {
 protected:
  RawOrigin one_{RawOrigin::answering(saying("one"))};
  RawOrigin two_{RawOrigin::answering(saying("two"))};
};

TEST_F(Reload, AConnectionContinuesWithTheNewRules) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  gateway.reload(towards(two_));
  EXPECT_EQ(askRaw(client).body, "two");
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1);
}

TEST_F(Reload, AnHttp2ConnectionContinuesWithTheNewRules) {
  GatewayProcess gateway(towards(one_));
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::get("/"), true));
  ASSERT_TRUE(client.readStream(1));
  gateway.reload(towards(two_));
  client.send(h2::headers(3, h2::get("/"), true));
  ASSERT_TRUE(client.readStream(3));
  EXPECT_EQ(client.seen().body(1), "one");
  EXPECT_EQ(client.seen().body(3), "two");
  EXPECT_EQ(client.goawayCode(), H2Client::kNoGoaway);
}

TEST_F(Reload, AnUntouchedBackendKeepsItsConnections) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  for (int i = 0; i < 3; ++i) {
    gateway.reload(towards(one_, "timeouts: {bodyIdle: " + std::to_string(50 + i) + "s}\n"));
    EXPECT_EQ(askRaw(client).body, "one");
  }
  EXPECT_EQ(one_.connections(), 1);
}

TEST_F(Reload, ARemovedBackendLosesItsIdleConnections) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  EXPECT_TRUE(gateway.reaches(openConnections("idle"), 1));
  gateway.reload(towards(two_));
  EXPECT_TRUE(falls(gateway, openConnections("idle"), 0));
  EXPECT_EQ(askRaw(client).body, "two");
}

TEST_F(Reload, ARequestInFlightKeepsItsRules) {
  SlowOrigin slow;
  GatewayProcess gateway(towards(slow));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(kGet);
  ASSERT_TRUE(slow.wasAsked());
  const std::string before = servedRevision(gateway);
  for (int i = 0; i < 5; ++i) gateway.reload(towards(i % 2 == 0 ? one_ : two_));
  slow.answer();
  EXPECT_EQ(readResponse(client).body, "late");
  EXPECT_TRUE(falls(gateway, openConnections("active"), 0));
  EXPECT_TRUE(falls(gateway, openConnections("idle"), 0)) << "nobody can want it any more";
  EXPECT_EQ(askRaw(client).body, "one");
  const std::vector<std::string> lines = gateway.accessLog(2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("\"revision\":\"" + before + "\"")) << "it was served by that one";
  EXPECT_THAT(lines[1], Not(HasSubstr("\"revision\":\"" + before + "\"")));
}

TEST_F(Reload, TheSameConfigurationChangesNothing) {
  GatewayProcess gateway(towards(one_));
  const std::string before = gateway.adminGet("/status");
  gateway.reload(towards(one_), "unchanged");
  EXPECT_EQ(gateway.adminGet("/status"), before);
  EXPECT_EQ(gateway.metric("sluice_config_reloads_total{result=\"success\"}"), 0);
}

TEST_F(Reload, InvalidYamlIsRefusedAndTheOldConfigurationServesOn) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  const std::string served = servedRevision(gateway);
  gateway.reloadText("apiVersion: [", "failure");
  EXPECT_EQ(askRaw(client).body, "one");
  EXPECT_EQ(one_.connections(), 1);
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"Rollback\"}"), 1);
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 0);
  const std::string status = gateway.adminGet("/status");
  EXPECT_THAT(status, HasSubstr("\"state\":\"Rollback\""));
  EXPECT_THAT(status, HasSubstr("\"served\":\"" + served + "\""));
  EXPECT_THAT(status, Not(HasSubstr("\"desired\":\"" + served + "\"")));
  EXPECT_TRUE(gateway.process().waitForLine("gateway.yaml:1:"));
  EXPECT_TRUE(gateway.process().waitForLine("configuration cannot be served"));

  gateway.reload(towards(two_));
  EXPECT_EQ(askRaw(client).body, "two");
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1);
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"Rollback\"}"), 0);
}

TEST_F(Reload, AnObjectThatItsSchemaRefusesKeepsItsLastGoodVersion) {
  GatewayProcess gateway(towards(one_));
  GatewaySpec misspelt = towards(one_, "forwardedHeaders: Append\n");
  misspelt.routes =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\n"
      "spec: {parentRefs: [{name: egress}], rules: [{backendRef: []}]}\n";
  gateway.reload(misspelt);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  EXPECT_THAT(one_.heads().back(), HasSubstr("x-forwarded-for: ")) << "the settings are the new ones";
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("its previous valid version serves on"));
  gateway.reload(towards(one_));
  EXPECT_EQ(askRaw(client).body, "one");
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("previous valid version")));
}

TEST_F(Reload, UndoingARefusedChangeIsInSyncAgain) {
  GatewayProcess gateway(towards(one_));
  gateway.reloadText("kind: [", "failure");
  gateway.reload(towards(one_), "unchanged");
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1);
}

TEST_F(Reload, TheOldConfigurationServesOnWithoutAMatchingGatewayClass) {
  GatewayProcess gateway(towards(one_));
  gateway.reloadText("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing}\n", "failure");
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
}

TEST_F(Reload, TheFilesAreWatched) {
  GatewayProcess gateway(towards(one_));
  gateway.rewrite(towards(two_));
  EXPECT_TRUE(gateway.reaches("sluice_config_reloads_total{result=\"success\"}", 1));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "two");
}

TEST_F(Reload, SettingsOfTheDataPathAreApplied) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  gateway.reload(
      towards(one_, "timeouts: {requestHeader: 300ms}\nlimits: {connections: 2}\nforwardedHeaders: Append\n"));
  client.send(kGet);
  EXPECT_EQ(readResponse(client).status, 200);
  EXPECT_THAT(one_.heads().back(), HasSubstr("x-forwarded-for: 127.0.0.1\r\n"));
  client.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(readResponse(client).status, 408) << "a connection that was there before has the new timeout";
  EXPECT_TRUE(gateway.limitWasHit("requestHeader"));
}

TEST_F(Reload, SettingsFixedAtStartAreReported) {
  GatewayProcess gateway(towards(one_));
  GatewaySpec other = towards(one_);
  other.workers = 3;
  other.dns = "attempts: 1";
  gateway.reload(other);
  EXPECT_TRUE(gateway.process().waitForLine("settings take effect after a restart"));
  EXPECT_TRUE(gateway.process().waitForLine("\"settings\":\"workers, dns\""));
}

TEST_F(Reload, AnAddressNoLongerAllowedIsNotUsedAgain) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).status, 200);
  GatewaySpec closed = towards(one_);
  closed.allow = "192.0.2.0/24";
  gateway.reload(closed);
  const ReceivedResponse denied = askRaw(client);
  EXPECT_EQ(denied.status, 403) << "although there was a connection";
  EXPECT_THAT(denied.body, HasSubstr("destination_ip_prohibited"));
}

class ReloadListeners : public Reload {
 protected:
  GatewaySpec withListener(std::uint16_t port) const {
    GatewaySpec spec = towards(one_);
    spec.listeners = "    - {name: more, protocol: HTTP, port: " + std::to_string(port) + "}\n";
    return spec;
  }
  const std::uint16_t more_ = freePort();
};

TEST_F(ReloadListeners, AListenerComesAndGoes) {
  GatewayProcess gateway(towards(one_));
  BlockingSocket old = BlockingSocket::connect(gateway.port());
  gateway.reload(withListener(more_));
  BlockingSocket client = BlockingSocket::connect(more_);
  EXPECT_EQ(askRaw(client).body, "one");
  gateway.reload(towards(one_));
  EXPECT_EQ(client.readAll(), "") << "it is idle, and closed";
  EXPECT_TRUE(client.closed());
  EXPECT_TRUE(eventually([&] { return !BlockingSocket::connect(more_).ok(); })) << "nobody listens there";
  EXPECT_EQ(askRaw(old).body, "one");
}

TEST_F(ReloadListeners, ARequestInFlightOutlivesItsListener) {
  SlowOrigin slow;
  GatewaySpec spec = withListener(more_);
  spec.backends = {{.port = slow.port()}};
  GatewayProcess gateway(spec);
  ASSERT_TRUE(waitForPort(more_));
  BlockingSocket client = BlockingSocket::connect(more_);
  client.send(kGet);
  ASSERT_TRUE(slow.wasAsked());
  gateway.reload(towards(slow));
  slow.answer();
  const ReceivedResponse got = readResponse(client);
  EXPECT_EQ(got.body, "late");
  EXPECT_EQ(got.field("connection"), "close");
}

TEST_F(ReloadListeners, APortInUseTakesNothingFromOtherPortsAndIsServedOnceItIsFree) {
  std::optional<RawOrigin> occupant;
  occupant.emplace(RawOrigin::answering(saying("occupied")));
  const std::uint16_t taken = occupant->port();
  GatewayProcess gateway(towards(one_));
  gateway.reload(withListener(taken));
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1);
  const std::string why = "127.0.0.1:" + std::to_string(taken) + ": Address already in use";
  const std::string status = gateway.adminGet("/status");
  EXPECT_THAT(status, HasSubstr("AddressNotUsable"));
  EXPECT_THAT(status, HasSubstr("PortUnavailable"));
  EXPECT_THAT(status, HasSubstr(why));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  occupant.reset();
  EXPECT_TRUE(eventually([&] { return BlockingSocket::connect(taken).ok(); }));
  BlockingSocket another = BlockingSocket::connect(taken);
  EXPECT_EQ(askRaw(another).body, "one");
  EXPECT_TRUE(eventually([&] { return gateway.adminGet("/status").find(why) == std::string::npos; }));
}

TEST_F(ReloadListeners, AnAddressOfAnotherMachineTakesNothingFromOtherGatewaysAtTheStart) {
  GatewaySpec spec = towards(one_);
  spec.routes =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: elsewhere}\nspec:\n"
      "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 203.0.113.7}]\n  listeners: [{name: http, "
      "protocol: HTTP, port: " +
      std::to_string(more_) + "}]\n---\n" + routeOfRules(ruleOfPrefix("/", "origin"));
  GatewayProcess gateway(spec);
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "one");
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr("203.0.113.7:" + std::to_string(more_) + ": Cannot assign requested address"));
}

TEST_F(ReloadListeners, APortThatMovesToOneInUseIsServedAtTheOldOneUntilItCan) {
  std::optional<RawOrigin> occupant;
  occupant.emplace(RawOrigin::answering(saying("occupied")));
  const std::uint16_t taken = occupant->port();
  GatewayProcess gateway(towards(one_));
  GatewaySpec moved = towards(two_);
  moved.gatewayPort = taken;
  gateway.reload(moved);
  EXPECT_EQ(gateway.metric("sluice_config_state{state=\"InSync\"}"), 1) << "the environment is at fault";
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askRaw(client).body, "two") << "the new routes, at the old port";
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr("Address already in use; until then it is served at port " + std::to_string(gateway.port())));
  EXPECT_TRUE(gateway.isReady());
  occupant.reset();
  EXPECT_TRUE(eventually([&] {
    BlockingSocket another = BlockingSocket::connect(taken);
    return another.ok() && askRaw(another).body == "two";
  }));
  EXPECT_TRUE(eventually([&] { return !BlockingSocket::connect(gateway.port()).ok(); })) << "it has moved";
}

TEST_F(ReloadListeners, AGatewayWhosePortIsTakenAtTheStartIsServedOnceItIsFree) {
  std::optional<RawOrigin> occupant;
  occupant.emplace(RawOrigin::answering(saying("occupied")));
  const std::uint16_t taken = occupant->port();
  GatewaySpec spec = towards(one_);
  spec.gatewayPort = taken;
  spec.waitFor = Started::kLive;
  GatewayProcess gateway(spec);
  EXPECT_TRUE(
      eventually([&] { return gateway.adminGet("/status").find("Address already in use") != std::string::npos; }));
  EXPECT_FALSE(gateway.isReady()) << "no listener accepts";
  occupant.reset();
  EXPECT_TRUE(eventually([&] { return gateway.isReady(); }));
  BlockingSocket client = BlockingSocket::connect(taken);
  EXPECT_EQ(askRaw(client).body, "one");
}

TEST_F(ReloadListeners, APortChangesFromPlaintextToTlsAndBack) {
  const CertifiedKey root = makeAuthority();
  GatewayProcess gateway(withListener(more_));
  ASSERT_TRUE(waitForPort(more_));
  BlockingSocket plain = BlockingSocket::connect(more_);
  EXPECT_EQ(askRaw(plain).body, "one");
  GatewaySpec secure = towards(one_);
  secure.tls = issueServer(root, "listener.test");
  secure.listeners = "    - {name: more, protocol: HTTPS, port: " + std::to_string(more_) +
                     ", tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: listener}]}}\n";
  gateway.reload(secure);
  EXPECT_EQ(plain.readAll(), "");
  const std::string url = "https://127.0.0.1:" + std::to_string(more_) + "/";
  EXPECT_EQ(run({"curl", "-sS", "-k", url}).output, "one");
  gateway.reload(withListener(more_));
  BlockingSocket again = BlockingSocket::connect(more_);
  EXPECT_EQ(askRaw(again).body, "one");
}

class ReloadCertificates : public Reload {
 protected:
  /// Returns a curl command that trusts the test's authority and asks for this name.
  std::vector<std::string> asking(const GatewayProcess& gateway, const std::string& name) const {
    const std::string at = name + ":" + std::to_string(gateway.tlsPort());
    return {"curl", "-sS", "--cacert", ca_, "--resolve", at + ":127.0.0.1", "https://" + at + "/"};
  }

  const CertifiedKey root_ = makeAuthority();
  TempDir folder_;
  const std::string ca_ = folder_.write("ca.crt", root_.certificate);
};

TEST_F(ReloadCertificates, AListenersCertificateIsReplacedAndConnectionsGoOn) {
  SlowOrigin slow;
  GatewaySpec spec;
  spec.backends = {{.port = slow.port()}};
  spec.tls = issueServer(root_, "first.test");
  GatewayProcess gateway(spec);
  ChildProcess inFlight(asking(gateway, "first.test"));
  ASSERT_TRUE(slow.wasAsked());
  spec.tls = issueServer(root_, "second.test");
  gateway.reload(spec);
  slow.answer();
  EXPECT_EQ(run(asking(gateway, "second.test")).output, "late");
  EXPECT_NE(run(asking(gateway, "first.test")).exitCode, 0) << "that certificate is gone";
  EXPECT_EQ(inFlight.wait(), 0);
  EXPECT_EQ(inFlight.output(), "late");
}

TEST_F(ReloadCertificates, AnAuthorityOfABackendIsReplaced) {
  const CertifiedKey other = makeAuthority("Other");
  const EchoOrigin origin(issueServer(root_, "origin.test"));
  GatewaySpec spec;
  spec.backends = {{.port = origin.port(), .ca = other.certificate}};
  GatewayProcess gateway(spec);
  const auto status = [&] {
    return run({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", gateway.url("/")}).output;
  };
  EXPECT_EQ(status(), "502");
  spec.backends[0].ca = root_.certificate;
  gateway.reload(spec);
  EXPECT_EQ(status(), "200");
  spec.backends[0].ca = other.certificate;
  gateway.reload(spec);
  EXPECT_EQ(status(), "502") << "neither a connection nor a session of the policy before serves it";
}

TEST_F(ReloadCertificates, AClientCertificateIsReplaced) {
  const std::uint16_t port = freePort();
  const CertifiedKey server = issueServer(root_, "origin.test");
  ChildProcess origin({"openssl", "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-www", "-cert",
                       folder_.write("origin.crt", server.certificate), "-key", folder_.write("origin.key", server.key),
                       "-CAfile", ca_, "-Verify", "1", "-verify_return_error"});
  ASSERT_TRUE(waitForPort(port)) << origin.errors();
  GatewaySpec spec;
  spec.backends = {{.port = port, .ca = root_.certificate, .client = issueClient(root_, "tenant-one")}};
  GatewayProcess gateway(spec);
  EXPECT_THAT(run({"curl", "-sS", gateway.url("/")}).output, HasSubstr("tenant-one"));
  spec.backends[0].client = issueClient(root_, "tenant-two");
  gateway.reload(spec);
  EXPECT_THAT(run({"curl", "-sS", gateway.url("/")}).output, HasSubstr("tenant-two"));
}

}  // namespace
}  // namespace sluice::test
