// Tests that exchanges under way keep the rules that they began with when another configuration is adopted, and that
// later exchanges find the new rules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Version;
using test::Rig;

constexpr const char* kOther = "another backend";

TEST(Adopted, ARequestInFlightEndsByItsOwnRules) {
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    Rig rig;
    test::ClientPeer& client = rig.connect(version);
    client.ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    client.body(0, "first");
    ASSERT_TRUE(rig.settle());
    test::BackendPeer& backend = rig.accept(0);
    const std::weak_ptr<const routing::BackendPlan> before = rig.plan;
    rig.adopt("2", kOther);
    EXPECT_FALSE(before.expired());
    client.body(0, " second");
    client.finish(0);
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(backend.request(0).body, "first second");
    backend.respond(0, 200, "answer");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(client.answer(0).body, "answer");
    EXPECT_TRUE(rig.wire(0).letGo) << "its Backend is not served any more";
    EXPECT_TRUE(before.expired()) << "nothing is kept beyond it";
  }
}

TEST(Adopted, ARequestThatWaitsForAConnectionGetsIt) {
  Rig rig;
  rig.resolver.forget(Rig::kHost);
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.adopt("2", kOther);
  rig.adopt("3");
  rig.resolver.know(Rig::kHost, {"192.0.2.1"});
  rig.resolver.answer();
  ASSERT_EQ(rig.dialled(), 1U);
  rig.accept(0).respond(0, 200, "late");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(0).body, "late");
}

TEST(Adopted, ARetryGoesToTheBackendThatWasChosen) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok/1"});
  ASSERT_TRUE(rig.settle());
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  client.ask({.target = "/ok/2"});
  ASSERT_TRUE(rig.settle());
  rig.adopt("2", kOther);
  rig.wire(0).reset();  // the kept connection had gone stale
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1).respond(0, 200, "again");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(1).body, "again");
  EXPECT_TRUE(rig.wire(1).letGo);
}

// The exchange goes on by its rule, which looks for its Backend once more.
TEST(Adopted, ALaterAttemptAtABackendThatHasGoneLeavesNothingBehind) {
  test::RigOptions options;
  options.rule = [](routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 1;
    rule.retry->backoff = std::chrono::seconds(1);
  };
  Rig rig(options);
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  rig.accept(0).respond(0, 503, "");
  ASSERT_TRUE(rig.settle());
  rig.adopt("2", kOther);
  EXPECT_TRUE(rig.wire(0).letGo);
  rig.advance(std::chrono::seconds(2));
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1).respond(0, 200, "late");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(0).body, "late");
  EXPECT_TRUE(rig.wire(1).letGo) << "its Backend is not served any more";
  // A Backend that is served again keeps its connections.
  rig.adopt("3");
  for (int i = 0; i < 2; ++i) {
    client.ask({.target = "/ok"});
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(rig.dialled(), 3U);
    if (i == 0) rig.accept(2);
    rig.backends.back()->respond(i, 200, "");
    ASSERT_TRUE(rig.settle());
    EXPECT_FALSE(rig.wire(2).letGo);
  }
}

TEST(Adopted, AConnectionOfAClientGoesOnByTheNewRules) {
  Rig rig;
  test::ClientPeer& client = rig.connect();
  client.ask({.target = "/ok/1"});
  ASSERT_TRUE(rig.settle());
  rig.accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  rig.adopt("2", kOther);
  EXPECT_TRUE(rig.wire(0).letGo);
  client.ask({.target = "/ok/2"});
  ASSERT_TRUE(rig.settle());
  ASSERT_EQ(rig.dialled(), 2U);
  rig.accept(1).respond(0, 200, "new");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(1).body, "new");
}

class AdoptedLog : public ::testing::Test {
 protected:
  AdoptedLog() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    file_ = std::move(observe::LineFile::open(path())).value();
    test::RigOptions options;
    options.accessLog = file_.get();
    rig_.emplace(options);
  }
  ~AdoptedLog() override {
    rig_.reset();
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/access.log"; }
  /// Returns the revision in the only line of the access log.
  std::string loggedRevision() {
    rig_->flushLog();
    std::ifstream in(path());
    std::string line;
    std::getline(in, line);
    const std::string key = "\"revision\":\"";
    const std::size_t at = line.find(key);
    if (at == std::string::npos) return line;
    return line.substr(at + key.size(), line.find('"', at + key.size()) - at - key.size());
  }

  std::string folder_ = ::testing::TempDir() + "adopt_test.XXXXXX";
  std::unique_ptr<observe::LineFile> file_;
  std::optional<Rig> rig_;
};

TEST_F(AdoptedLog, NamesTheRevisionThatServedARequest) {
  test::ClientPeer& client = rig_->connect();
  client.ask({.target = "/ok"});
  ASSERT_TRUE(rig_->settle());
  rig_->adopt("2");
  rig_->adopt("3");
  rig_->accept(0).respond(0, 200, "");
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(loggedRevision(), "1");
}

TEST_F(AdoptedLog, NamesTheRevisionThatHadNoRuleForARequest) {
  http::Limits limits;
  limits.streamWindow = 1;
  test::ClientPeer& client = rig_->connect(Version::kHttp2, limits);
  client.grants = false;
  client.ask({.target = "/nowhere"});
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(client.answer(0).message.head.status, 404);
  EXPECT_EQ(rig_->told.size(), 0U) << "it is slow to take the answer";
  rig_->adopt("2");
  client.grants = true;
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(loggedRevision(), "1");
}

TEST_F(AdoptedLog, NamesTheNewRevisionForLaterRequests) {
  rig_->adopt("2");
  test::ClientPeer& client = rig_->connect();
  client.ask({.target = "/nowhere"});
  ASSERT_TRUE(rig_->settle());
  EXPECT_EQ(loggedRevision(), "2");
}

}  // namespace
}  // namespace sluice::exchange
