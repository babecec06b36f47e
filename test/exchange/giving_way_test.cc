// Tests a Backend whose places (limits.backendRequests) are all in use: only requests that are delayed by their own
// clients give way to requests of other clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::milliseconds;
using test::Rig;
using test::RigOptions;

constexpr std::size_t kPlaces = 4;
constexpr base::Duration kLongEnough = milliseconds(400);
constexpr std::string_view kHoldersAddress = "203.0.113.1";
constexpr std::string_view kOthersAddress = "203.0.113.2";

RigOptions withPlaces(Version backend) {
  RigOptions options = speaking(backend);
  options.maxRequests = kPlaces;
  return options;
}

/// Clients and Backend use one version.
class ScarcePlaces : public ::testing::TestWithParam<Version> {
 protected:
  void TearDown() override {
    rig_.close();
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
    EXPECT_EQ(rig_.budget().seeking.load(), 0U);
    EXPECT_EQ(rig_.budget().released.load(), 0U);
  }
  test::ClientPeer& connect(std::string_view address) { return rig_.connect(GetParam(), {}, address); }
  /// Begins a request of a new client at that address.
  test::ClientPeer& ask(std::string_view address, const test::HeadSpec& spec) {
    test::ClientPeer& client = connect(address);
    client.ask(spec);
    rig_.settle();
    acceptAll();
    return client;
  }
  test::ClientPeer& upload(std::string_view address) {
    test::ClientPeer& client = ask(address, {.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    client.body(0, "a");
    rig_.settle();
    return client;
  }
  void fillWithUploads() {
    for (std::size_t i = 0; i < kPlaces; ++i) uploads_.push_back(&upload(kHoldersAddress));
    EXPECT_EQ(rig_.budget().requests.count(), kPlaces);
  }
  /// Fills the places with unfinished responses of that many bytes, of which the clients take nothing.
  void fillWithUnreadResponses(std::size_t bytes) {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      test::ClientPeer& reader = connect(kHoldersAddress);
      reader.grants = false;
      reader.wire().allow(64);
      reader.ask({.target = "/ok"});
      rig_.settle();
    }
    acceptAll();
    for (const auto& backend : rig_.backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        backend->head(i, {.body = Body::kUntilEnd});
        backend->body(i, std::string(bytes, 'a'));
        answered_.insert({backend.get(), i});
      }
    }
    rig_.settle();
  }
  void acceptAll() {
    while (accepted_ < rig_.dialled()) rig_.accept(accepted_++, GetParam());
  }
  /// Answers the requests that Backends have whole.
  void answerAll() {
    acceptAll();
    for (const auto& backend : rig_.backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        if (!backend->request(i).ended || !answered_.insert({backend.get(), i}).second) continue;
        backend->respond(i, 200, "yes");
      }
    }
    rig_.settle();
  }
  static int statusOf(test::ClientPeer& client) {
    return client.answer(0).answered ? client.answer(0).message.head.status : 0;
  }
  /// Returns true if so many requests were refused, or gave way.
  bool wereTurnedAway(int count) const {
    const std::string series = "sluice_limit_hits_total{limit=\"backendRequests\"} ";
    const std::string text = rig_.metricsText();
    if (count == 0) return text.find(series) == std::string::npos;
    return text.find(series + std::to_string(count) + "\n") != std::string::npos;
  }

  Rig rig_{withPlaces(GetParam())};
  std::vector<test::ClientPeer*> uploads_;
  std::set<std::pair<const test::BackendPeer*, std::size_t>> answered_;
  std::size_t accepted_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Versions, ScarcePlaces, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(ScarcePlaces, AreGivenUpByTheSlowestUploadOfTheClientThatHasMost) {
  fillWithUploads();
  rig_.advance(kLongEnough);
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  answerAll();
  EXPECT_EQ(statusOf(other), 200);
  EXPECT_EQ(statusOf(*uploads_[0]), 503);
  for (std::size_t i = 1; i < kPlaces; ++i) EXPECT_EQ(statusOf(*uploads_[i]), 0) << i;
  EXPECT_TRUE(wereTurnedAway(1));
  EXPECT_THAT(rig_.told.front().error->detail, testing::HasSubstr("holds up a place"));
  EXPECT_EQ(rig_.told.front().error->limit, "backendRequests");
}

TEST_P(ScarcePlaces, AreWaitedForUntilAnUploadHasStoodStillForAMoment) {
  fillWithUploads();
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  answerAll();
  EXPECT_EQ(statusOf(other), 0);
  EXPECT_EQ(rig_.budget().seeking.load(), 1U);
  rig_.advance(kLongEnough);
  answerAll();
  EXPECT_EQ(statusOf(other), 200);
  EXPECT_TRUE(wereTurnedAway(1));
}

TEST_P(ScarcePlaces, AreRefusedIfNoClientIsSlow) {
  fillWithUploads();
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  for (int i = 0; i < 15; ++i) {
    for (test::ClientPeer* upload : uploads_) upload->body(0, std::string(2048, 'a'));
    rig_.advance(milliseconds(100));
  }
  EXPECT_EQ(statusOf(other), 503);
  EXPECT_TRUE(wereTurnedAway(1));
}

TEST_P(ScarcePlaces, AreRefusedAtOnceToTheClientThatHasAll) {
  fillWithUploads();
  rig_.advance(kLongEnough);
  EXPECT_EQ(statusOf(ask(kHoldersAddress, {.target = "/ok"})), 503);
  rig_.advance(upstream::PlaceSurvey::kStuck);
  test::ClientPeer& later = ask(kHoldersAddress, {.target = "/ok"});
  answerAll();
  EXPECT_EQ(statusOf(later), 200) << "an upload was stuck";
}

TEST_P(ScarcePlaces, AreNotGivenUpByRequestsThatWaitForTheirBackend) {
  for (std::size_t i = 0; i < kPlaces; ++i) ask(kHoldersAddress, {.target = "/ok"});
  rig_.advance(std::chrono::seconds(6));
  test::ClientPeer& first = ask(kOthersAddress, {.target = "/ok"});
  rig_.advance(upstream::Places::kPatience);
  rig_.advance(2 * upstream::Places::kInterval);
  EXPECT_EQ(statusOf(first), 503);
  EXPECT_EQ(rig_.budget().requests.count(), kPlaces);
}

TEST_P(ScarcePlaces, AreNotTakenFromOthersIfOneBecomesFree) {
  for (std::size_t i = 0; i < kPlaces; ++i) ask(kHoldersAddress, {.target = "/ok"});
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  rig_.backends.front()->respond(0, 200, "yes");
  answered_.insert({rig_.backends.front().get(), 0});
  rig_.settle();
  answerAll();
  EXPECT_EQ(statusOf(other), 200);
  EXPECT_TRUE(wereTurnedAway(0));
}

TEST_P(ScarcePlaces, AreGivenUpByAResponseThatItsClientDoesNotTake) {
  fillWithUnreadResponses(1024 * 1024);
  EXPECT_EQ(rig_.budget().requests.count(), kPlaces);
  rig_.advance(kLongEnough);
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  rig_.advance(kLongEnough);  // their sockets may have moved until the first look
  answerAll();
  EXPECT_EQ(statusOf(other), 200);
  EXPECT_TRUE(wereTurnedAway(1));
}

// The survey of the first request that wants a place is still good for the second one.
TEST_P(ScarcePlaces, AreNotTakenFromARequestThatHasLeftMeanwhile) {
  fillWithUnreadResponses(1024);
  rig_.advance(kLongEnough);
  ask(kOthersAddress, {.target = "/ok"});
  for (const auto& backend : rig_.backends) {
    for (std::size_t i = 0; i < backend->requests(); ++i) {
      if (answered_.count({backend.get(), i}) > 0 && !backend->request(i).reset) backend->finish(i);
    }
  }
  rig_.settle();
  test::ClientPeer& second = ask("203.0.113.3", {.target = "/ok"});
  answerAll();
  EXPECT_EQ(statusOf(second), 200);
}

TEST_P(ScarcePlaces, AreFreeAgainWhenTheBackendIsDone) {
  test::ClientPeer& reader = connect(kHoldersAddress);
  reader.grants = false;
  reader.wire().allow(64);
  reader.ask({.target = "/ok"});
  rig_.settle();
  acceptAll();
  rig_.backends.front()->respond(0, 200, std::string(1024, 'a'));
  rig_.settle();
  EXPECT_FALSE(reader.answer(0).ended);
  EXPECT_EQ(rig_.budget().requests.count(), 0U) << "although the client has not taken the response";
}

TEST_P(ScarcePlaces, AreNotSoughtAnyMoreForAClientThatHasGone) {
  fillWithUploads();
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  EXPECT_EQ(rig_.budget().seeking.load(), 1U);
  other.wire().reset();
  rig_.settle();
  EXPECT_EQ(rig_.budget().seeking.load(), 0U);
  rig_.advance(kLongEnough);
  EXPECT_EQ(rig_.budget().requests.count(), kPlaces);
}

TEST_P(ScarcePlaces, ThatBecomeFreeGoToTheRequestsThatSeekThem) {
  fillWithUploads();
  test::ClientPeer& other = ask(kOthersAddress, {.target = "/ok"});
  EXPECT_EQ(rig_.budget().seeking.load(), 1U);
  // Another worker sees the place first.
  rig_.budget().requests.release();
  EXPECT_EQ(statusOf(ask(kHoldersAddress, {.target = "/ok"})), 503);
  rig_.advance(upstream::Places::kInterval);
  rig_.advancePast();
  answerAll();
  EXPECT_EQ(statusOf(other), 200);
  rig_.budget().requests.add();
}

}  // namespace
}  // namespace sluice::exchange
