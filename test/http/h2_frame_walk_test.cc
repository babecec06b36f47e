#include "proxy/http/h2/h2_frame_walk.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/h2_frames.h"

namespace sluice::test {
namespace {

// The stops of a walk: how many bytes lay before each, and the stream.
using Stops = std::vector<std::pair<std::size_t, http::StreamId>>;

Stops stopsOf(std::string_view bytes, std::size_t piece, std::size_t preface = 0) {
  http::H2FrameWalk walk(preface);
  Stops stops;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view read = bytes.substr(at, piece);
    std::size_t passed = at;
    for (std::size_t count = walk.advance(read); count < read.size(); count = walk.advance(read)) {
      passed += count;
      stops.emplace_back(passed, walk.stoppedAt());
      read.remove_prefix(count);
    }
  }
  return stops;
}

std::vector<http::StreamId> streamsOf(const Stops& stops) {
  std::vector<http::StreamId> streams;
  for (const auto& [at, stream] : stops) streams.push_back(stream);
  return streams;
}

TEST(H2FrameWalk, StopsInFrontOfDataThatDoesNotFollowItsStream) {
  const std::string first = h2::headers(1, h2::post(), false) + h2::data(1, "a", false);
  const std::string second = h2::data(3, "b", false);
  const std::string third = h2::data(1, "c", false);
  EXPECT_EQ(stopsOf(first + second + third, 1000), (Stops{{first.size(), 3}, {first.size() + second.size(), 1}}));
}

TEST(H2FrameWalk, GoesOnBehindFramesThatEndNoStream) {
  EXPECT_TRUE(stopsOf(h2::headers(1, h2::post(), false) + h2::data(1, "a", false) + h2::windowUpdate(1, 5) +
                          h2::ping() + h2::data(1, "b", false) + h2::data(1, "", true),
                      1000)
                  .empty());
}

TEST(H2FrameWalk, StopsAtDataBehindAnEndOrAReset) {
  const std::string open = h2::headers(1, h2::post(), false);
  EXPECT_EQ(stopsOf(open + h2::data(1, "a", true) + h2::data(1, "b", true), 1000).size(), 1u);
  EXPECT_EQ(stopsOf(open + h2::rstStream(1, h2error::kCancel) + h2::data(1, "b", true), 1000).size(), 1u);
  EXPECT_EQ(stopsOf(h2::headers(1, h2::get(), true) + h2::data(1, "b", true), 1000).size(), 1u);
}

TEST(H2FrameWalk, StopsAtTheSameFramesHoweverTheBytesCome) {
  std::string bytes(h2::preface());
  bytes += h2::settings({{0x3, 7}});
  std::vector<http::StreamId> expected;
  for (std::uint32_t id = 1; id < 60; id += 2) {
    bytes += h2::headers(id, h2::post(), false) + h2::data(id, std::string(id, 'x'), false) +
             h2::data(id / 2 | 1, h2::data(99, "not a frame", false), false) + h2::data(id, "", true);
    if ((id / 2 | 1) != id) {
      expected.push_back(id / 2 | 1);
      expected.push_back(id);
    }
  }
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 8u, 9u, 10u, 100u, 100000u}) {
    EXPECT_EQ(streamsOf(stopsOf(bytes, piece, h2::preface().size())), expected) << piece;
  }
}

TEST(H2FrameWalk, StopsBeforeTheHeaderIsWhole) {
  const std::string data = h2::data(1, "test", true);
  EXPECT_EQ(stopsOf(data, 4), (Stops{{8, 1}})) << "the header's last byte is in the third piece";
}

TEST(H2FrameWalk, IgnoresTheReservedBit) {
  EXPECT_EQ(stopsOf(h2::data(0x80000005, "x", false), 1000), (Stops{{0, 5}}));
  EXPECT_TRUE(stopsOf(h2::headers(5, h2::post(), false) + h2::data(0x80000005, "x", false), 1000).empty());
}

}  // namespace
}  // namespace sluice::test
