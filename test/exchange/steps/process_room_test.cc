// Tests which of the bodies that steps hold give way when limits.processorBufferTotal, which they share, is used up.
#include "test/exchange/steps/process_fixture.h"

namespace sluice::exchange {
namespace {

using http::Method;

using ProcessRoom = ProcessorSteps;

INSTANTIATE_TEST_SUITE_P(Versions, ProcessRoom,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(ProcessRoom, AllBodiesTogetherAreBounded) {
  options_.bounds.processorBufferTotal = 16 * 1024;
  Rig& rig = with({step("holds", Phase::kRequestBody, goesOn(), kEditsWhole)});
  const std::size_t stalled = post("first", false);
  test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
  const std::size_t index = other.ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  other.body(index, "second");
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(status(stalled), 503) << "the one that has brought nothing for longest";
  EXPECT_NE(client_->answer(stalled).body.find("processor_capacity_reached"), std::string::npos);
  EXPECT_TRUE(limited("processorBufferTotal"));
  other.finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(accept(0).request(0).body, "second");
}

TEST_P(ProcessRoom, ARefusedBodyTakesNoneWhileItsClientTakesTheAnswer) {
  Rig& rig = with({step("denies", Phase::kRequestBody, replies(403), kEditsWhole)});
  http::Limits narrow;
  narrow.streamWindow = 16;
  test::ClientPeer& client = rig.connect(Version::kHttp2, narrow);
  client.grants = false;
  const std::size_t index = client.ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  client.body(index, std::string(60'000, 'x'));
  ASSERT_TRUE(rig.settle());
  EXPECT_GE(rig.exchanges.bufferRoom().used(), 60'000U);
  client.finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client.answer(index).message.head.status, 403);
  EXPECT_FALSE(client.answer(index).ended);
  EXPECT_EQ(rig.exchanges.size(), 1U) << "its client takes it slowly";
  EXPECT_EQ(rig.exchanges.bufferRoom().used(), 0U);
}

// A Backend that does not read its requests would otherwise take the room of all others.
TEST_P(ProcessRoom, AWholeBodyThatItsBackendDoesNotTakeGivesWayToOthers) {
  for (const bool stuck : {false, true}) {
    options_.bounds.processorBufferTotal = 64 * 1024;
    options_.timeouts.connect = std::chrono::hours(1);
    Rig& rig = with({step("holds", Phase::kRequestBody, goesOn(), kEditsWhole)});
    const std::size_t untaken = post(std::string(60'000, 'x'));
    ASSERT_EQ(rig.dialled(), 1U);
    rig.advanceShortOf(processing::BufferRoom::kStuck);
    if (stuck) rig.advancePast();
    test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
    const std::size_t index = other.ask({.method = Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
    other.body(index, "second");
    other.finish(index);
    ASSERT_TRUE(rig.settle());
    EXPECT_TRUE(limited("processorBufferTotal"));
    if (stuck) {
      EXPECT_EQ(status(untaken), 503);
      EXPECT_NE(client_->answer(untaken).body.find("processor_capacity_reached"), std::string::npos);
      BackendPeer& backend = accept(rig.dialled() - 1);
      EXPECT_EQ(backend.request(0).body, "second");
      respond(backend, 200, "done");
      EXPECT_EQ(other.answer(index).message.head.status, 200);
    } else {
      EXPECT_EQ(other.answer(index).message.head.status, 503);
      BackendPeer& backend = accept(0);
      EXPECT_EQ(backend.request(0).body.size(), 60'000U) << "a body that has waited less is kept";
      respond(backend, 200, "done");
      EXPECT_EQ(status(untaken), 200);
    }
    EXPECT_EQ(rig.exchanges.bufferRoom().used(), 0U);
    SetUp();
  }
}

TEST_P(ProcessRoom, AWholeResponseThatItsClientDoesNotTakeGivesWayToOthers) {
  options_.bounds.processorBufferTotal = 1'600'000;
  Rig& rig = with({step("holds", Phase::kResponseBody, goesOn(), kEditsWhole)});
  const std::size_t untaken = get();
  client_->wire().allow(1000);
  const std::string large(1'500'000, 'x');
  respond(accept(0), 200, large);
  EXPECT_GT(rig.exchanges.bufferRoom().used(), 1'000'000U);
  rig.advance(processing::BufferRoom::kStuck);
  test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
  const std::size_t index = other.ask({.target = "/ok"});
  ASSERT_TRUE(rig.settle());
  respond(*rig.backends.back(), 200, large);
  EXPECT_EQ(other.answer(index).message.head.status, 200);
  EXPECT_EQ(other.answer(index).body.size(), large.size());
  EXPECT_FALSE(client_->answer(untaken).ended) << "it was cut";
  EXPECT_TRUE(limited("processorBufferTotal"));
  client_->wire().allowAll();
  ASSERT_TRUE(rig.settle());
  EXPECT_FALSE(client_->answer(untaken).ended);
  EXPECT_EQ(rig.exchanges.bufferRoom().used(), 0U);
}

}  // namespace
}  // namespace sluice::exchange
