// Tests the log lines of connections to Backends: when they open, and when and why they end.
#include "proxy/upstream/connection_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "test/observe/support.h"
#include "test/support/reference_page.h"
#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class ConnectionLines : public testing::Test {
 protected:
  PoolRig& start(PoolOptions options = {}) {
    options.debugLog = &bounded_;
    return rig_.emplace(options);
  }
  /// Begins a request on a connection of its own.
  test::BackendPeer& open(Version version = Version::kHttp11) {
    rig_->want();
    rig_->settle();
    return rig_->accept(0, version);
  }
  void respond(test::BackendPeer& backend) {
    backend.respond(0, 200, "done");
    rig_->settle();
    rig_->done(0);
  }
  /// Returns the attributes of the one line with that message, from the first to the last; the whole log if there is
  /// not exactly one.
  std::string lineOf(const std::string& message) {
    text_ += pipe_.read();
    std::vector<std::string> lines = observe::splitLines(text_);
    std::erase_if(lines, [&](const std::string& line) { return line.find('"' + message + '"') == std::string::npos; });
    return lines.size() == 1 ? lines[0].substr(lines[0].find("\"attributes\":")) : text_;
  }
  std::string opened() { return lineOf("a connection to a Backend is open"); }
  std::string ended() { return lineOf("a connection to a Backend has ended"); }
  static std::string because(const std::string& reason, int requests) {
    return R"("reason":")" + reason + R"(","requests":)" + std::to_string(requests);
  }

  observe::LogPipe pipe_;
  test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kDebug, clock_, observe::LineFile::over(pipe_.writer())};
  observe::BoundedLog bounded_{&log_, clock_};
  std::optional<PoolRig> rig_;
  std::string text_;
};

TEST_F(ConnectionLines, SayWhereAConnectionGoesAndHowLongThatTook) {
  PoolOptions options;
  options.tls = true;
  options.protocol = routing::UpstreamProtocol::kHttp2;
  PoolRig& rig = start(options);
  rig.want();
  rig.settle();
  rig.clock.advance(milliseconds(40));
  rig.accept(0, Version::kHttp2);
  EXPECT_EQ(opened(), R"("attributes":{"backend":"demo/backend","upstream.address":"192.0.2.1:8080",)"
                      R"("network.protocol.version":"2","tls.protocol.version":"","tls.resumed":false,)"
                      R"("dial_ms":40.000,"handshake_ms":0.000}})");
}

TEST_F(ConnectionLines, SayThatAnIdleConnectionEnds) {
  PoolOptions options;
  options.timeouts.upstreamIdle = std::chrono::seconds(10);
  PoolRig& rig = start(options);
  respond(open());
  rig.advance(std::chrono::seconds(11));
  EXPECT_EQ(ended(), R"("attributes":{"backend":"demo/backend","upstream.address":"192.0.2.1:8080",)" +
                         because("idle", 1) + R"(,"duration_ms":11000.000,"error.type":"","error.message":""}})");
}

TEST_F(ConnectionLines, SayThatTheBackendHasClosed) {
  start();
  respond(open());
  rig_->wire(0).end();
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("peer-closed", 1)));
}

TEST_F(ConnectionLines, SayThatTheBackendSaysGoaway) {
  PoolOptions options;
  options.protocol = routing::UpstreamProtocol::kHttp2;
  start(options);
  test::BackendPeer& backend = open(Version::kHttp2);
  backend.codec->drain();
  rig_->settle();
  respond(backend);
  rig_->wire(0).end();
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("goaway", 1)));
}

TEST_F(ConnectionLines, SayThatTheBackendSaysConnectionClose) {
  start();
  test::BackendPeer& backend = open();
  backend.codec->drain();
  respond(backend);
  EXPECT_THAT(ended(), HasSubstr(because("connection-close", 1)));
}

TEST_F(ConnectionLines, SayThatARequestCutShortLeavesNoUseOfIt) {
  start();
  open();
  rig_->cancel(0);
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("not-reusable", 1)));
}

TEST_F(ConnectionLines, SayThatTheBackendIsNotServedAnyMore) {
  start();
  respond(open());
  rig_->adopt(PoolRig::policyOf({}), {});
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("drained", 1)));
}

TEST_F(ConnectionLines, SayWhyAConnectionCouldNotBeOpened) {
  start();
  rig_->want();
  rig_->settle();
  rig_->wire(0).refuse();
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("error", 0)));
  EXPECT_THAT(ended(), HasSubstr(R"("error.type":"connection_refused","error.message":"refused")"));
  EXPECT_EQ(text_.find("is open"), std::string::npos);
}

TEST_F(ConnectionLines, SayHowAConnectionWasLost) {
  start();
  open();
  rig_->wire(0).reset();
  rig_->settle();
  EXPECT_THAT(ended(), HasSubstr(because("error", 1)));
  EXPECT_THAT(ended(), HasSubstr(R"("error.type":"connection_terminated")"));
}

TEST_F(ConnectionLines, SayThatTheProcessStops) {
  start();
  open();
  rig_.reset();
  EXPECT_THAT(ended(), HasSubstr(because("stopped", 1)));
}

TEST_F(ConnectionLines, AreNotWrittenAtOtherLevels) {
  log_.setLevel(observe::LogLevel::kInfo);
  start();
  open();
  rig_.reset();
  EXPECT_EQ(pipe_.read(), "");
}

TEST(ConnectionLinesOnThePage, AreExplainedWithEveryReason) {
  const auto rows = test::pageTable(test::referencePage("metrics.md"), "| `reason` | why the connection has ended |");
  EXPECT_THAT(test::firstWords(rows), testing::UnorderedElementsAreArray(kConnectionEndNames));
}

}  // namespace
}  // namespace sluice::upstream
