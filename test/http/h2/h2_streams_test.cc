#include "proxy/http/h2/h2_streams.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "test/support/seeds.h"

namespace sluice::test {
namespace {

using http::H2Stream;
using http::StreamId;

TEST(H2Streams, AreFoundOnceTheyAreNamed) {
  http::H2Memory memory;
  http::H2Streams streams(memory);
  EXPECT_EQ(streams.find(1), nullptr);
  H2Stream& first = streams.add(1);
  H2Stream& second = streams.add(0);
  EXPECT_EQ(streams.find(1), &first);
  EXPECT_EQ(streams.find(3), nullptr);
  EXPECT_EQ(streams.find(0), nullptr);
  streams.name(second, 3);
  EXPECT_EQ(streams.find(3), &second);
  EXPECT_EQ(streams.newest(), &second);
  streams.remove(first);
  EXPECT_EQ(streams.find(1), nullptr);
  EXPECT_EQ(streams.count(), 1u);
}

TEST(H2Streams, MayBeRemovedBeforeTheyAreNamed) {
  http::H2Memory memory;
  http::H2Streams streams(memory);
  streams.remove(streams.add(0));
  EXPECT_EQ(streams.count(), 0u);
  EXPECT_EQ(streams.newest(), nullptr);
}

// Compares with a map, whatever ids a client chooses.
TEST(H2Streams, AreThoseThatWereAddedAndNotRemoved) {
  constexpr std::array<StreamId, 3> kSteps = {2, 512, 6};
  for (const std::uint32_t seed : seeds(3, 3)) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const StreamId step = kSteps[seed % kSteps.size()];
    http::H2Memory memory;
    http::H2Streams streams(memory);
    std::map<StreamId, H2Stream*> expected;
    StreamId next = 1;
    for (int round = 0; round < 1000; ++round) {
      if (expected.empty() || (expected.size() < 150 && random() % 5 < 3)) {
        expected[next] = &streams.add(next);
        next += step;
      } else {
        const auto chosen = std::next(expected.begin(), static_cast<std::ptrdiff_t>(random() % expected.size()));
        streams.remove(*chosen->second);
        expected.erase(chosen);
      }
      ASSERT_EQ(streams.count(), expected.size());
      const StreamId any = 1 + step * static_cast<StreamId>(random() % (next / step + 1));
      const auto known = expected.find(any);
      ASSERT_EQ(streams.find(any), known == expected.end() ? nullptr : known->second) << any;
    }
    for (const auto& [id, stream] : expected) EXPECT_EQ(streams.find(id), stream);
  }
}

}  // namespace
}  // namespace sluice::test
