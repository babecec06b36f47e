// Tests that heads of requests hold a bounded amount of memory, and release it soon. Each bound is tested on both
// sides, with clients that do not read any answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Version;
using std::chrono::seconds;
using test::Rig;
using test::RigOptions;

constexpr std::size_t kChunk = base::Chunk::kCapacity;

/// Returns sixty kilobytes, which HPACK encodes in a few bytes.
test::HeadSpec largeHead(const std::string& target) {
  test::HeadSpec spec{.target = target};
  for (int i = 0; i < 15; ++i) spec.fields.emplace_back("x-large", std::string(4000, 'y'));
  return spec;
}

/// Connects a client whose window is closed, so that even a short answer waits.
test::ClientPeer& whoTakesNothing(Rig& rig) {
  http::Limits limits;
  limits.streamWindow = 0;
  return rig.connect(Version::kHttp2, limits);
}

bool wasHit(const Rig& rig, const std::string& limit) {
  return std::find(rig.limits.begin(), rig.limits.end(), limit) != rig.limits.end();
}

TEST(HeadMemory, IsFreedAtOnceByALocalReply) {
  Rig rig;
  test::ClientPeer& client = whoTakesNothing(rig);
  constexpr std::size_t kAsked = 50;
  for (std::size_t i = 0; i < kAsked; ++i) {
    const std::size_t index = client.ask(largeHead("/nowhere/" + std::to_string(i) + "?secret"));
    ASSERT_TRUE(rig.settle());
    ASSERT_EQ(client.answer(index).message.head.status, 404);
  }
  EXPECT_EQ(rig.exchanges.size(), kAsked) << "the answers wait";
  EXPECT_LE(rig.worker.chunks().inUse(), kAsked + 2) << "a chunk each, for what the client has to take";
  EXPECT_EQ(rig.heads.used(), 0U);
  std::size_t number = 0;
  rig.exchanges.forEach([&](const Exchange& exchange) {
    EXPECT_EQ(exchange.transaction().request.head.methodText, "GET");
    EXPECT_EQ(exchange.transaction().request.head.authority, "gateway.test");
    EXPECT_EQ(exchange.transaction().request.head.path(), "/nowhere/" + std::to_string(number++));
    EXPECT_TRUE(exchange.transaction().request.head.headers.empty());
  });
  rig.advance(seconds(121));
  EXPECT_EQ(rig.exchanges.size(), 0U);
  EXPECT_TRUE(wasHit(rig, "clientIdle"));
}

TEST(HeadMemory, IsBoundedForAConnection) {
  RigOptions options;
  options.bounds.headerMemory = 200 * 1024;
  Rig rig(options);
  test::ClientPeer& client = whoTakesNothing(rig);
  std::size_t asked = 0;
  while (rig.limits.empty() && asked < 20) {
    client.ask(largeHead("/ok"));
    ASSERT_TRUE(rig.settle());
    ++asked;
  }
  EXPECT_GT(asked, 2U);
  EXPECT_TRUE(wasHit(rig, "headerMemory"));
  EXPECT_EQ(client.answer(asked - 1).message.head.status, 503);
  EXPECT_GT(rig.heads.used(), options.bounds.headerMemory / 2);
  EXPECT_LE(rig.heads.used(), options.bounds.headerMemory);
  // Each head has one small chunk, for its first lines.
  const std::size_t held = (rig.worker.chunks().inUse() - asked) * kChunk + asked * base::Chunk::kSmallCapacity;
  EXPECT_LE(held, options.bounds.headerMemory + asked * http::HeadCharge::kFree + 3 * kChunk);

  test::ClientPeer& other = rig.connect(Version::kHttp2);
  const std::size_t victim = other.ask(largeHead("/ok"));
  client.cancel(0);
  ASSERT_TRUE(rig.settle());
  const std::size_t again = client.ask(largeHead("/ok"));
  ASSERT_TRUE(rig.settle());
  rig.accept(0);
  EXPECT_EQ(client.answer(again).message.head.status, 0) << "it waits for the backend: there is room again";
  rig.backends[0]->respond(0, 200, "");
  ASSERT_TRUE(rig.settle());
  EXPECT_NE(other.answer(victim).message.head.status, 503);
  rig.close();
  EXPECT_EQ(rig.heads.used(), 0U);
}

TEST(HeadMemory, IsBoundedForAllConnectionsTogether) {
  RigOptions options;
  options.bounds.headerMemoryTotal = 100 * 1024;
  Rig rig(options);
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    test::ClientPeer& client = rig.connect(version);
    const std::size_t index = client.ask(largeHead("/ok"));
    ASSERT_TRUE(rig.settle());
    const bool second = version == Version::kHttp2;
    EXPECT_EQ(client.answer(index).message.head.status, second ? 503 : 0);
    EXPECT_EQ(wasHit(rig, "headerMemoryTotal"), second);
    EXPECT_LE(rig.heads.used(), options.bounds.headerMemoryTotal);
  }
  rig.close();
  EXPECT_EQ(rig.heads.used(), 0U);
}

// Trailers wait in the body's pipe until the Backend takes them.
TEST(HeadMemory, CountsTrailersToo) {
  for (const Version version : {Version::kHttp11, Version::kHttp2}) {
    RigOptions options;
    options.bounds.headerMemory = 80 * 1024;
    Rig rig(options);
    const test::FieldList trailers = largeHead("").fields;
    const auto post = [&](test::ClientPeer& client) {
      const std::size_t index =
          client.ask({.method = http::Method::kPost, .target = "/ok", .body = http::Body::kUntilEnd});
      client.finish(index, trailers);
      EXPECT_TRUE(rig.settle());
      return index;
    };
    test::ClientPeer& client = rig.connect(version);
    post(client);
    const std::uint64_t charged = rig.heads.used();
    EXPECT_GT(charged, 40U * 1024);
    EXPECT_TRUE(rig.limits.empty());
    if (version == Version::kHttp2) {
      EXPECT_TRUE(client.answer(post(client)).reset);
      EXPECT_TRUE(wasHit(rig, "headerMemory"));
      EXPECT_EQ(rig.exchanges.size(), 1U);
    }
    EXPECT_EQ(rig.heads.used(), charged) << "what was refused is not kept";
    rig.accept(0);
    rig.backends[0]->respond(0, 200, "");
    ASSERT_TRUE(rig.settle());
    EXPECT_EQ(client.answer(0).message.head.status, 200);
    EXPECT_EQ(rig.heads.used(), 0U);
  }
}

// A codec keeps no part of a head for which there is no room, so that many heads that come at once hold little.
TEST(HeadMemory, IsRefusedBeforeTheWholeHeadIsThere) {
  RigOptions options;
  options.bounds.headerMemory = 200 * 1024;
  Rig rig(options);
  test::ClientPeer& client = whoTakesNothing(rig);
  constexpr std::size_t kAsked = 50;
  for (std::size_t i = 0; i < kAsked; ++i) client.ask(largeHead("/ok"));
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(wasHit(rig, "headerMemory"));
  EXPECT_LE(rig.heads.used(), options.bounds.headerMemory);
  std::size_t whole = 0;
  rig.exchanges.forEach([&](const Exchange& exchange) {
    if (!exchange.transaction().request.head.methodText.empty()) ++whole;
  });
  EXPECT_EQ(rig.exchanges.size(), kAsked);
  EXPECT_EQ(whole, 3U);
  EXPECT_EQ(client.answer(kAsked - 1).message.head.status, 503);
  rig.close();
  EXPECT_EQ(rig.heads.used(), 0U);
}

TEST(HeadMemory, DoesNotCountHeadsThatFitIntoAChunk) {
  RigOptions options;
  options.bounds.headerMemory = 0;
  Rig rig(options);
  test::ClientPeer& client = rig.connect(Version::kHttp2);
  for (int i = 0; i < 50; ++i) client.ask({.target = "/ok", .fields = {{"x", std::string(4000, 'y')}}});
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(rig.exchanges.size(), 50U);
  EXPECT_TRUE(rig.limits.empty());
  const std::size_t large = client.ask(largeHead("/ok"));
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(large).message.head.status, 503);
}

}  // namespace
}  // namespace sluice::exchange
