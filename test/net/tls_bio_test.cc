#include "proxy/net/tls/tls_bio.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace sluice::net {
namespace {

std::string record(std::size_t size) {
  std::string text("\x17\x03\x03", 3);
  text += static_cast<char>(size >> 8);
  text += static_cast<char>(size);
  return text.append(size, static_cast<char>('a' + size % 26));
}

/// Takes all of the input in reads of `size` bytes.
std::vector<std::string> partsOf(TlsWire& wire, std::size_t size) {
  std::vector<std::string> parts;
  while (!wire.input.empty()) {
    const std::size_t count = wire.part(size);
    if (count == 0) return {"no progress"};
    parts.emplace_back(wire.input.substr(0, count));
    wire.input.remove_prefix(count);
  }
  return parts;
}

TEST(TlsWire, HandsOutAllThatThereIsAtFirst) {
  const std::string input = record(10) + record(20);
  TlsWire wire;
  wire.input = input;
  EXPECT_EQ(partsOf(wire, 1000), std::vector<std::string>{input});
}

TEST(TlsWire, HandsOutOneRecordAtATime) {
  const std::vector<std::string> records{record(1), record(0), record(200), record(16640), record(3)};
  std::string input;
  for (const std::string& each : records) input += each;
  TlsWire wire;
  wire.startRecords();
  for (int round = 0; round < 2; ++round) {
    wire.input = input;
    EXPECT_EQ(partsOf(wire, 20000), records);
  }
}

TEST(TlsWire, NeverCrossesTheEndOfARecordThatComesInPieces) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  for (int round = 0; round < 2000; ++round) {
    std::string all;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < 1 + below(6); ++i) {
      all += record(below(3) == 0 ? below(3) : below(40));
      ends.push_back(all.size());
    }
    TlsWire wire;
    wire.startRecords();
    std::string taken;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t piece = std::min(1 + below(30), all.size() - at);
      wire.input = std::string_view(all).substr(at, piece);
      for (const std::string& part : partsOf(wire, 1 + below(60))) {
        const std::size_t before = taken.size();
        taken += part;
        for (const std::size_t end : ends) ASSERT_FALSE(before < end && taken.size() > end) << end;
      }
      at += piece;
    }
    ASSERT_EQ(taken, all);
  }
}

}  // namespace
}  // namespace sluice::net
