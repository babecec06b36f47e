// Tests that bodies which their clients do not take stay within limits.connectionMemory and connectionMemoryTotal, and
// never delay other clients. Each bound is tested on both sides.
#include "proxy/exchange/transaction/client_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using std::chrono::seconds;
using test::BackendPeer;
using test::ClientPeer;
using test::Rig;
using test::RigOptions;

constexpr std::size_t kKib = 1024;

// --- the accounts -------------------------------------------------------------------------------------------

TEST(ClientMemory, BeginsABodyWithTheWindowOfOneStream) {
  base::LimitSettings limits;
  EXPECT_EQ(bodyWindowOf(limits).first, 44 * kKib);
  EXPECT_EQ(bodyWindowOf(limits).whole, 256 * kKib);
  limits.connectionMemory = 64 * kKib;
  EXPECT_EQ(bodyWindowOf(limits).first, 16 * kKib) << "a frame, however little there is";
  limits.concurrentStreams = 1;
  limits.connectionMemory = 64 * kKib * kKib;
  EXPECT_EQ(bodyWindowOf(limits).first, 256 * kKib) << "never more than the whole";
  limits.exchangeBuffer = 32 * kKib;
  EXPECT_EQ(bodyWindowOf(limits).first, 32 * kKib);
  EXPECT_EQ(bodyWindowOf(limits).whole, 32 * kKib);
}

TEST(ClientMemory, NamesTheBoundThatIsReached) {
  ClientMemoryTotal total(512 * kKib);
  ClientMemory one(total);
  ClientMemory other(total);
  one.charge(0, 63);
  EXPECT_EQ(one.reached(256 * kKib), "");
  EXPECT_TRUE(one.hasRoomFor(4 * kKib, 256 * kKib));
  EXPECT_FALSE(one.hasRoomFor(4 * kKib + 1, 256 * kKib));
  one.charge(63, 64);
  EXPECT_EQ(one.reached(256 * kKib), "connectionMemory");
  EXPECT_EQ(other.reached(256 * kKib), "") << "another client's bound is its own";
  other.charge(0, 60);
  EXPECT_EQ(other.reached(256 * kKib), "connectionMemoryTotal");
  EXPECT_FALSE(other.hasRoomFor(1, 256 * kKib));
  one.charge(64, 0);
  EXPECT_EQ(other.reached(256 * kKib), "");
}

TEST(ClientMemory, GivesAllBackWhenItsConnectionGoes) {
  ClientMemoryTotal total(1024 * kKib);
  {
    ClientMemory one(total);
    one.charge(0, 100);
    EXPECT_GE(total.used(), 400 * kKib);
    one.charge(100, 1);
    EXPECT_LE(total.used(), 128 * kKib);
    one.charge(1, 50);
  }
  EXPECT_EQ(total.used(), 0U);
}

// --- the exchanges ------------------------------------------------------------------------------------------

// Four streams share 256 KiB: first windows of 68 KiB, whole ones of 128.
RigOptions tight(Version backend) {
  RigOptions options = speaking(backend);
  options.bounds.connectionMemory = 256 * kKib;
  options.bounds.concurrentStreams = 4;
  options.bounds.streamWindow = 128 * kKib;
  options.bounds.responseRate = 0;  // response_rate_test.cc tests the least rate
  options.limits.streamWindow = 128 * kKib;
  options.limits.firstWindow = static_cast<std::uint32_t>(bodyWindowOf(options.bounds).first);
  return options;
}

constexpr std::size_t kFirstOfFour = 68 * kKib;
constexpr std::size_t kBody = 1024 * kKib;
const std::string& wholeBody() {
  static const std::string text(kBody, 'x');
  return text;
}

class BodiesHeld : public ::testing::TestWithParam<Version> {
 protected:
  Rig& make(const RigOptions& options) {
    rig_.emplace(options);
    client_ = &rig_->connect(Version::kHttp2);
    return *rig_;
  }
  /// Starts a response of kBody to a new request.
  std::size_t download(ClientPeer& client) {
    const std::size_t index = client.ask({.target = "/ok"});
    EXPECT_TRUE(rig_->settle());
    while (rig_->backends.size() < rig_->dialled()) rig_->accept(rig_->backends.size(), GetParam());
    answered_.resize(rig_->backends.size());
    for (std::size_t i = 0; i < answered_.size(); ++i) {
      while (answered_[i] < rig_->backends[i]->requests()) rig_->backends[i]->respond(answered_[i]++, 200, wholeBody());
    }
    EXPECT_TRUE(rig_->settle());
    return index;
  }
  bool limited(std::string_view name) const {
    return std::find(rig_->limits.begin(), rig_->limits.end(), name) != rig_->limits.end();
  }
  std::uint64_t held() { return rig_->clientMemory.used(); }

  std::optional<Rig> rig_;
  ClientPeer* client_ = nullptr;

 private:
  std::vector<std::size_t> answered_;  // for each backend
};

INSTANTIATE_TEST_SUITE_P(Backends, BodiesHeld, ::testing::Values(Version::kHttp11, Version::kHttp2));

TEST_P(BodiesHeld, ResponsesThatNobodyReadsHoldTheirFirstWindows) {
  RigOptions options = tight(GetParam());
  options.bounds.connectionMemory += 64 * kKib;
  Rig& rig = make(options);
  client_ = &rig.connect(Version::kHttp2, [] {
    http::Limits nothing;
    nothing.streamWindow = 0;
    return nothing;
  }());
  for (int i = 0; i < 4; ++i) download(*client_);
  EXPECT_LE(held(), 4 * kFirstOfFour + 64 * kKib);
  EXPECT_FALSE(limited("connectionMemory"));
  rig.close();
  EXPECT_EQ(held(), 0U);
}

TEST_P(BodiesHeld, ABodyThatIsReadHasTheWholeWindowAndGivesItBack) {
  Rig& rig = make(tight(GetParam()));
  const std::size_t index = download(*client_);
  EXPECT_EQ(client_->answer(index).body.size(), kBody);
  EXPECT_EQ(held(), 0U);
  client_->wire().allow(300 * kKib);
  download(*client_);
  EXPECT_GE(held(), 128 * kKib) << "it was read, and was widened";
  EXPECT_FALSE(limited("connectionMemory"));
  client_->wire().allowAll();
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(held(), 0U);
}

TEST_P(BodiesHeld, TheLargestWaitAtTheBoundWhileOthersOfTheClientGoOn) {
  Rig& rig = make(tight(GetParam()));
  // Two streams that were read for a while hold whole windows, and so all the memory that the client may use.
  client_->grants = false;
  std::vector<std::size_t> greedy;
  for (int i = 0; i < 2; ++i) {
    greedy.push_back(download(*client_));
    EXPECT_EQ(client_->answer(greedy.back()).body.size(), 256 * kKib) << "the client's own window";
  }
  EXPECT_EQ(held(), 256 * kKib);
  EXPECT_TRUE(limited("connectionMemory"));
  ClientPeer& other = rig.connect(Version::kHttp2);
  EXPECT_EQ(other.answer(download(other)).body.size(), kBody);
  const std::size_t small = download(*client_);
  EXPECT_EQ(client_->answer(small).body.size(), 256 * kKib) << "as far as it reads";

  const auto reset = [&] {
    return std::count_if(greedy.begin(), greedy.end(), [&](std::size_t index) { return client_->answer(index).reset; });
  };
  rig.advance(seconds(59));
  EXPECT_EQ(reset(), 0);
  EXPECT_FALSE(limited("responseIdle"));
  rig.advance(seconds(2));
  EXPECT_GE(reset(), 1) << "until there is room again";
  EXPECT_TRUE(limited("responseIdle"));
}

TEST_P(BodiesHeld, UploadsThatNobodyReadsAreResetAtTheBound) {
  RigOptions options = tight(GetParam());
  options.timeouts.connect = seconds(1000);
  Rig& rig = make(options);
  std::vector<std::size_t> stuck;
  for (int i = 0; i < 4; ++i) {
    stuck.push_back(client_->ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd}));
    client_->body(stuck.back(), wholeBody());
  }
  ASSERT_TRUE(rig.settle());
  EXPECT_LE(held(), 4 * kFirstOfFour + 64 * kKib);
  EXPECT_TRUE(limited("connectionMemory"));
  const auto refused = [&] {
    return std::count_if(stuck.begin(), stuck.end(), [&](std::size_t index) {
      return client_->answer(index).answered && client_->answer(index).message.head.status == 503;
    });
  };
  rig.advance(seconds(59));
  EXPECT_EQ(refused(), 0);
  EXPECT_FALSE(limited("responseIdle"));
  rig.advance(seconds(2));
  EXPECT_GE(refused(), 1);
  EXPECT_TRUE(limited("responseIdle"));
  EXPECT_LT(refused(), 4) << "the others have room again";
}

TEST_P(BodiesHeld, TheTotalHoldsBackOnlyClientsThatHoldMuch) {
  RigOptions options = tight(GetParam());
  options.bounds.connectionMemoryTotal = 192 * kKib;
  Rig& rig = make(options);
  client_->grants = false;
  download(*client_);
  download(*client_);
  EXPECT_TRUE(limited("connectionMemoryTotal"));
  EXPECT_FALSE(limited("connectionMemory"));
  ClientPeer& other = rig.connect(Version::kHttp2);
  EXPECT_EQ(other.answer(download(other)).body.size(), kBody);
}

}  // namespace
}  // namespace sluice::exchange
