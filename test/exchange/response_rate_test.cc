// Tests that a client for which bytes wait is reset unless it takes them at limits.responseRate within
// timeouts.responseIdle.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Version;
using std::chrono::seconds;
using test::BackendPeer;
using test::ClientPeer;
using test::Rig;
using test::RigOptions;

class ResponseRate : public ::testing::Test {
 protected:
  ClientPeer& connect(Version version, std::uint32_t window = 64 * 1024) {
    http::Limits limits;
    limits.streamWindow = window;
    client_ = &rig().connect(version, limits);
    return *client_;
  }
  Rig& rig() {
    if (!rig_) rig_.emplace(options_);
    return *rig_;
  }
  BackendPeer& ask() {
    index_ = client_->ask({.target = "/ok"});
    EXPECT_TRUE(rig().settle());
    return rig().accept(rig().dialled() - 1);
  }
  void askForMuch() {
    ask().respond(0, 200, std::string(2'000'000, 'x'));
    EXPECT_TRUE(rig().settle());
  }
  bool limited() { return std::find(rig().limits.begin(), rig().limits.end(), "responseIdle") != rig().limits.end(); }
  void expectReset() {
    EXPECT_TRUE(limited());
    EXPECT_EQ(rig().exchanges.size(), 0U);
    ASSERT_EQ(rig().told.size(), 1U);
    ASSERT_TRUE(rig().told[0].error);
    EXPECT_EQ(rig().told[0].error->type, base::ErrorType::kConnectionTerminated);
    EXPECT_EQ(rig().told[0].error->origin, base::ErrorOrigin::kDownstream);
  }
  void expectAlive() {
    EXPECT_FALSE(limited());
    EXPECT_EQ(rig().exchanges.size(), 1U);
  }
  /// The client's application takes that many bytes, and its codec announces that as soon as it is half of the window.
  void take(std::size_t bytes) {
    client_->codec->grant(1, bytes);
    ASSERT_TRUE(rig().settle());
  }

  RigOptions options_;
  std::optional<Rig> rig_;
  ClientPeer* client_ = nullptr;
  std::size_t index_ = 0;
};

TEST_F(ResponseRate, EndsAStreamOfHttp2WhoseWindowStaysClosed) {
  connect(Version::kHttp2).grants = false;
  askForMuch();
  rig().advanceShortOf(seconds(60));
  expectAlive();
  rig().advancePast();
  expectReset();
  EXPECT_TRUE(client_->answer(index_).reset);
}

TEST_F(ResponseRate, EndsAStreamOfHttp2ThatDrips) {
  connect(Version::kHttp2, 100).grants = false;
  askForMuch();
  for (int i = 0; i < 6; ++i) {
    rig().advance(seconds(9));
    take(100);
  }
  expectAlive();
  rig().advance(seconds(9));
  expectReset();
}

TEST_F(ResponseRate, LetsAStreamOfHttp2LiveThatTakesTheLeast) {
  connect(Version::kHttp2, 300).grants = false;
  askForMuch();
  for (int i = 0; i < 60; ++i) {
    rig().advance(seconds(10));
    take(300);
  }
  expectAlive();
}

TEST_F(ResponseRate, LetsEventsLiveThatSeldomCome) {
  connect(Version::kHttp2);
  BackendPeer& backend = ask();
  backend.head(0, {.body = Body::kUntilEnd});
  for (int i = 0; i < 10; ++i) {
    backend.body(0, "x");
    rig().advance(seconds(290));
  }
  expectAlive();
}

TEST_F(ResponseRate, EndsASocketThatTakesNothing) {
  connect(Version::kHttp11).wire().allow(0);
  askForMuch();
  rig().advance(seconds(61));
  expectAlive();
  rig().advance(seconds(61));
  expectReset();
}

TEST_F(ResponseRate, EndsASocketThatDrips) {
  connect(Version::kHttp11).wire().allow(0);
  askForMuch();
  for (int i = 0; i < 15; ++i) {
    client_->wire().allow(100);
    rig().advance(seconds(10));
  }
  expectReset();
}

// The kernel takes a large piece at once, and then nothing for minutes.
TEST_F(ResponseRate, LetsASocketLiveThatMovesSlowly) {
  connect(Version::kHttp11).wire().allow(0);
  askForMuch();
  for (int i = 0; i < 60; ++i) {
    client_->wire().allow(200);
    rig().advance(seconds(10));
  }
  expectAlive();
}

TEST_F(ResponseRate, EndsNothingIfItIsZero) {
  options_.bounds.responseRate = 0;
  connect(Version::kHttp2).grants = false;
  askForMuch();
  rig().advance(seconds(299));
  expectAlive();
}

TEST_F(ResponseRate, HasItsTimeFromTheSettings) {
  options_.timeouts.responseIdle = seconds(5);
  connect(Version::kHttp2).grants = false;
  askForMuch();
  rig().advanceShortOf(seconds(5));
  expectAlive();
  rig().advancePast();
  expectReset();
}

}  // namespace
}  // namespace sluice::exchange
