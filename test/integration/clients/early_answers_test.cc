// Tests clients of HTTP/2 that are in the midst of an upload when the whole response arrives: curl and Node.js get it,
// from a Backend and from the gateway itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t kUploadBytes = 11'000'000;

struct EarlyOrigin {
  const char* name;
  int status;
  bool keeps;  // the connection; otherwise the answer announces its end

  RawOrigin::Script script() const {
    return [*this](BlockingSocket& socket, RawOrigin& self) {
      if (self.readHead(socket).empty()) return;
      socket.send("HTTP/1.1 " + std::to_string(status) + " Early\r\nContent-Length: 6\r\n" +
                  (keeps ? "" : "Connection: close\r\n") + "\r\nanswer");
      if (!keeps) socket.shutdownWrite();
      socket.readAll();
    };
  }
};

class EarlyAnswers : public testing::TestWithParam<EarlyOrigin> {
 protected:
  GatewayProcess serve(const std::string& settings) const {
    return GatewayProcess(
        {.backends = {{.port = origin_.port()}}, .settings = settings, .tls = issueServer(authority_, "localhost")});
  }
  std::vector<std::vector<std::string>> ways(const GatewayProcess& gateway) const {
    return {{"--http2-prior-knowledge", gateway.url("/")},
            {"--http2", "--cacert", ca_, "https://localhost:" + std::to_string(gateway.tlsPort()) + "/"}};
  }
  ProgramOutcome upload(const std::vector<std::string>& way) const {
    std::vector<std::string> command = {"curl", "-sS",           "--max-time",    "60",
                                        "-w",   " %{http_code}", "--data-binary", "@" + upload_};
    command.insert(command.end(), way.begin(), way.end());
    return run(command);
  }
  std::string answer() const { return "answer " + std::to_string(GetParam().status); }

  const CertifiedKey authority_ = makeAuthority();
  RawOrigin origin_{GetParam().script()};
  TempDir folder_;
  const std::string upload_ = folder_.write("upload", std::string(kUploadBytes, 'x'));
  const std::string ca_ = folder_.write("ca.crt", authority_.certificate);
};

INSTANTIATE_TEST_SUITE_P(Origins, EarlyAnswers,
                         testing::Values(EarlyOrigin{"RefusesAndKeeps", 413, true},
                                         EarlyOrigin{"RefusesAndCloses", 413, false},
                                         EarlyOrigin{"AcceptsAndKeeps", 200, true},
                                         EarlyOrigin{"AcceptsAndCloses", 200, false}),
                         [](const auto& given) { return given.param.name; });

/// The refusals alone: after an answer that accepts, curl 7.88 sends nothing more, and waits until its own time is
/// over.
class RefusedUploads : public EarlyAnswers {};

INSTANTIATE_TEST_SUITE_P(Origins, RefusedUploads,
                         testing::Values(EarlyOrigin{"RefusesAndKeeps", 413, true},
                                         EarlyOrigin{"RefusesAndCloses", 413, false}),
                         [](const auto& given) { return given.param.name; });

TEST_P(RefusedUploads, ReachCurl) {
  const GatewayProcess gateway = serve({});
  for (const std::vector<std::string>& way : ways(gateway)) {
    for (int i = 0; i < 4; ++i) {
      const ProgramOutcome got = upload(way);
      EXPECT_EQ(got.output, answer()) << got.errors;
      EXPECT_EQ(got.exitCode, 0) << got.errors;
    }
  }
}

TEST_P(RefusedUploads, LetCurlFinishAnUploadWithinTheBounds) {
  const GatewayProcess gateway = serve("limits: {drainBytes: 16Mi}\ntimeouts: {drain: 60s}\n");
  for (const std::vector<std::string>& way : ways(gateway)) {
    const ProgramOutcome got = upload(way);
    EXPECT_EQ(got.output, answer());
    EXPECT_EQ(got.exitCode, 0) << got.errors;
  }
  EXPECT_EQ(gateway.limitHits("drainBytes"), 0);
}

TEST_P(EarlyAnswers, ReachNode) {
  const GatewayProcess gateway = serve({});
  const std::string secure = "https://localhost:" + std::to_string(gateway.tlsPort());
  for (const std::string& url : {gateway.url(""), secure}) {
    const ProgramOutcome got = runNode("early_answers.mjs", {url, std::to_string(GetParam().status), ca_});
    EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  }
}

TEST(EarlyAnswersOfTheGateway, ReachAClientThatUploads) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOfRules(ruleOfPrefix("/only", "origin"))});
  const TempDir folder;
  const ProgramOutcome got =
      run({"curl", "-sS", "--max-time", "60", "-w", " %{http_code}", "--http2-prior-knowledge", "--data-binary",
           "@" + folder.write("upload", std::string(kUploadBytes, 'x')), gateway.url("/other")});
  EXPECT_THAT(got.output, HasSubstr("destination_not_found"));
  EXPECT_THAT(got.output, testing::EndsWith(" 404"));
  EXPECT_EQ(got.exitCode, 0) << got.errors;
}

// Such a client neither ends its upload nor sends more of it.
TEST(EarlyAnswersOfTheGateway, AreFollowedByAResetOnceDrainHasExpired) {
  const EchoOrigin origin(std::nullopt);
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .settings = "timeouts: {drain: 100ms}\n",
                                .routes = routeOfRules(ruleOfPrefix("/only", "origin"))});
  H2Client client(gateway.port());
  client.send(h2::headers(1, h2::post("/other"), false));
  EXPECT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "404");
  EXPECT_TRUE(client.readFrame(H2Type::kRstStream, 1));
  EXPECT_EQ(client.seen().find(H2Type::kRstStream, 1)->errorCode(), h2error::kNoError);
  EXPECT_TRUE(gateway.limitWasHit("drain"));
  client.send(h2::headers(3, h2::get("/only"), true));
  EXPECT_TRUE(client.readStream(3));
  EXPECT_EQ(client.status(3), "200");
}

}  // namespace
}  // namespace sluice::test
