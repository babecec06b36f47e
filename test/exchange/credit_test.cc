// Bodies move only as far as the consumer takes them, and the bytes that an exchange holds meanwhile have a bound:
// limits.exchangeBuffer each way, which is the codecs' streamWindow, and what one connection holds to write.
#include <gtest/gtest.h>

#include <tuple>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using test::Rig;
using test::RigOptions;

constexpr std::size_t kBuffer = std::size_t{64} * 1024;
constexpr std::size_t kTotal = std::size_t{4} * 1024 * 1024;
// The bound counts the pipe, a flush's worth that waits for the socket, the bytes that the transport keeps, heads, and
// chunks that are not full.
constexpr std::size_t kMostChunks = (kBuffer + 128 * 1024 + 64 * 1024) / base::Chunk::kCapacity + 16;

RigOptions narrow(Version backend) {
  RigOptions options = speaking(backend);
  options.limits.streamWindow = kBuffer;
  return options;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 1021) % 26);
  return text;
}

class Credit : public ::testing::TestWithParam<std::tuple<Version, Version>> {
 protected:
  Credit() : rig_(narrow(std::get<1>(GetParam()))), client_(rig_.connect(std::get<0>(GetParam()))) {}
  test::BackendPeer& open() {
    EXPECT_TRUE(rig_.settle());
    return rig_.accept(0, std::get<1>(GetParam()));
  }
  std::size_t chunks() { return rig_.worker.chunks().inUse(); }

  Rig rig_;
  test::ClientPeer& client_;
};

INSTANTIATE_TEST_SUITE_P(Versions, Credit,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(Credit, AStalledClientBoundsWhatIsReadFromTheBackend) {
  const std::string body = pattern(kTotal);
  const std::size_t index = client_.ask({.target = "/ok"});
  test::BackendPeer& backend = open();
  client_.wire().allow(0);
  backend.respond(0, 200, body);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  client_.wire().allow(100'000);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  client_.wire().allowAll();
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.answer(index).body == body);
  EXPECT_TRUE(client_.answer(index).ended);
  EXPECT_EQ(rig_.exchanges.size(), 0U);
}

TEST_P(Credit, AClientThatTakesNoBodyBoundsItToo) {
  const std::string body = pattern(kTotal);
  const std::size_t index = client_.ask({.target = "/ok"});
  test::BackendPeer& backend = open();
  client_.grants = false;
  backend.respond(0, 200, body);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  client_.grants = true;
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.answer(index).body == body);
}

TEST_P(Credit, AStalledBackendBoundsWhatIsReadFromTheClient) {
  const std::string body = pattern(kTotal);
  const std::size_t index =
      client_.ask({.method = Method::kPost, .target = "/ok", .body = Body::kLength, .length = kTotal});
  test::BackendPeer& backend = open();
  backend.wire().allow(0);
  client_.body(index, body);
  client_.finish(index);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  backend.wire().allow(100'000);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  backend.wire().allowAll();
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(backend.request(0).body == body);
  backend.respond(0, 200, "");
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.answer(index).ended);
}

TEST_P(Credit, ARequestThatWaitsForAConnectionHoldsNoMoreThanItsBuffer) {
  const std::string body = pattern(kTotal);
  const std::size_t index =
      client_.ask({.method = Method::kPut, .target = "/ok", .body = Body::kLength, .length = kTotal});
  client_.body(index, body);
  client_.finish(index);
  ASSERT_TRUE(rig_.settle());
  EXPECT_LE(chunks(), kMostChunks);
  test::BackendPeer& backend = open();
  EXPECT_TRUE(backend.request(0).body == body);
}

TEST_P(Credit, ADripToAStalledPeerCostsNoMoreThanItsBytes) {
  const std::size_t index = client_.ask({.target = "/ok"});
  test::BackendPeer& backend = open();
  client_.wire().allow(0);
  backend.head(0, {.body = Body::kUntilEnd});
  for (int i = 0; i < 3000; ++i) {
    backend.body(0, "x");
    ASSERT_TRUE(rig_.settle());
  }
  EXPECT_LE(chunks(), kMostChunks);
  backend.finish(0);
  client_.wire().allowAll();
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).body.size(), 3000U);
}

TEST_P(Credit, AnIdleExchangeHoldsNoBuffers) {
  client_.ask({.target = "/ok"});
  test::BackendPeer& backend = open();
  const std::size_t idle = chunks();
  backend.head(0, {.body = Body::kUntilEnd});
  backend.body(0, pattern(kTotal));
  ASSERT_TRUE(rig_.settle());
  // The head of the response came, and nothing else stays.
  EXPECT_LE(chunks(), idle + 1);
}

}  // namespace
}  // namespace sluice::exchange
