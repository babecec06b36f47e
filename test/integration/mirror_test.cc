// Tests RequestMirror through the binary: mirrors that record, keep silent, are slow or are unreachable never affect
// the request itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string mirror(const std::string& name, const std::string& more = {}) {
  return "{type: RequestMirror, requestMirror: {backendRef: " + backendRef(name) + more + "}}";
}

/// Records requests; the gateway ignores its answers.
class Recorder : public RecordingOrigin {
 public:
  Recorder()
      : RecordingOrigin(
            [](std::size_t) { return "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 7\r\n\r\nnobody\n"; }) {}
};

class MirroredRequests : public testing::Test {
 protected:
  GatewaySpec specOf(std::uint16_t mirrorPort, const std::string& filters) const {
    return {.backends = {{.port = origin_.port()}, {.name = "copy", .hostname = "copy.test", .port = mirrorPort}},
            .routes = routeOfRules("    - filters: [" + filters + "]\n" + backendRefs())};
  }
  static std::string observed(const std::string& status, const std::string& error = {}) {
    return attemptsOf("copy", status, error, "POST");
  }

  EchoOrigin origin_{std::nullopt};
};

TEST_F(MirroredRequests, HaveTheOriginalsContentAndTheMirrorsName) {
  const Recorder copy;
  GatewayProcess gateway(specOf(copy.port(),
                                "{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-Set, value: "
                                "both}]}}, " +
                                    mirror("copy")));
  const std::string answer = ask(gateway, "/a?b=1", {"--data", "the body", "-H", "X-Sent: yes"});
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(echoed(answer, "target"), "/a?b=1");
  ASSERT_TRUE(copy.hears(1));
  EXPECT_THAT(copy.heads()[0], HasSubstr("POST /a?b=1 HTTP/1.1\r\n"));
  EXPECT_THAT(copy.heads()[0], HasSubstr("host: copy.test:" + std::to_string(copy.port())));
  EXPECT_THAT(copy.heads()[0], HasSubstr("X-Sent: yes\r\n"));
  EXPECT_THAT(copy.heads()[0], HasSubstr("x-set: both\r\n"));
  EXPECT_EQ(copy.bodies()[0], "the body");
  EXPECT_TRUE(gateway.reaches(observed("500"), 1));
  const auto lines = gateway.accessLog(1);
  EXPECT_EQ(lines.size(), 1U) << "one line for the request, none for its copy";
  EXPECT_THAT(lines[0], HasSubstr("\"backend\":\"test/origin\""));
}

TEST_F(MirroredRequests, AreTheConfiguredPercentage) {
  const Recorder none;
  const Recorder all;
  GatewaySpec spec = specOf(none.port(), mirror("copy", ", percent: 0") + ", " + mirror("all", ", percent: 100"));
  spec.backends.push_back({.name = "all", .hostname = "all.test", .port = all.port()});
  const GatewayProcess gateway(spec);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(ask(gateway, "/"), HasSubstr("200 OK"));
  EXPECT_TRUE(all.hears(5));
  EXPECT_TRUE(none.heads().empty());
}

TEST_F(MirroredRequests, GoWholeToEveryMirrorOfARule) {
  const Recorder first;
  const Recorder second;
  GatewaySpec spec = specOf(first.port(), mirror("copy") + ", " + mirror("other"));
  spec.backends.push_back({.name = "other", .hostname = "other.test", .port = second.port()});
  const GatewayProcess gateway(spec);
  EXPECT_THAT(ask(gateway, "/a", {"--data", "for all"}), HasSubstr("200 OK"));
  for (const Recorder* each : {&first, &second}) {
    ASSERT_TRUE(each->hears(1));
    EXPECT_THAT(each->heads()[0], HasSubstr("POST /a HTTP/1.1\r\n"));
    EXPECT_EQ(each->bodies()[0], "for all");
  }
}

TEST_F(MirroredRequests, UseHttp2AndTlsIfTheMirrorDoes) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin copy(issueServer(authority, "copy.test"));
  GatewaySpec spec = specOf(copy.port(), mirror("copy"));
  spec.backends[1].ca = authority.certificate;
  const GatewayProcess gateway(spec);
  EXPECT_THAT(ask(gateway, "/", {"--http2-prior-knowledge", "--data", "x"}), HasSubstr("HTTP/2 200"));
  EXPECT_TRUE(gateway.reaches(observed("200"), 1));
}

TEST_F(MirroredRequests, MayFailToConnect) {
  const GatewayProcess gateway(specOf(freePort(), mirror("copy")));
  EXPECT_THAT(ask(gateway, "/", {"--data", "x"}), HasSubstr("200 OK"));
  EXPECT_TRUE(gateway.reaches(observed("", "connection_refused"), 1));
}

TEST_F(MirroredRequests, DelayNothingIfTheMirrorIsSilent) {
  const RawOrigin silent([](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    self.waitUntilItStops();
  });
  const GatewayProcess gateway(specOf(silent.port(), mirror("copy")));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(ask(gateway, "/", {"--data", "x"}), HasSubstr("200 OK"));
  EXPECT_TRUE(eventually([&] { return silent.heads().size() == 3; }));
}  // and SIGTERM does not wait for mirrors

TEST_F(MirroredRequests, AreDroppedIfTheMirrorDoesNotReadABigUpload) {
  const RawOrigin deaf([](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); });
  TempDir folder;
  const GatewayProcess gateway(specOf(deaf.port(), mirror("copy")));
  const std::string answer =
      ask(gateway, "/echo",
          {"-o", folder.path() + "/back", "-w", "%{http_code} %{size_upload} %{size_download}", "-H",
           "Expect:", "--data-binary", "@" + folder.write("body", std::string(16'000'000, 'x'))});
  EXPECT_THAT(answer, HasSubstr("200 16000000 1600"));
  EXPECT_TRUE(gateway.limitWasHit("exchangeBuffer"));
  EXPECT_TRUE(gateway.reaches(observed("", "connection_terminated"), 1));
}

TEST_F(MirroredRequests, EndWithAClientThatBreaksOff) {
  const Recorder copy;
  const GatewayProcess gateway(specOf(copy.port(), mirror("copy")));
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send("POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
  ASSERT_TRUE(eventually([&] { return copy.heads().size() == 1; }));
  client.reset();
  ASSERT_TRUE(copy.hears(1)) << "its connection ends";
  EXPECT_EQ(copy.bodies()[0], "half");
  EXPECT_TRUE(gateway.reaches(observed("", "connection_terminated"), 1));
}

TEST_F(MirroredRequests, AreLeftOutIfTheirReferenceIsBroken) {
  const GatewayProcess gateway(specOf(origin_.port(), mirror("missing")));
  EXPECT_THAT(ask(gateway, "/"), HasSubstr("200 OK"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("spec.rules[0].filters[0].requestMirror.backendRef"));
}

}  // namespace
}  // namespace sluice::test
