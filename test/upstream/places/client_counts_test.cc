#include "proxy/upstream/places/client_counts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::upstream {
namespace {

std::uint64_t countOf(const ClientCounts& counts, net::ClientNetwork client) {
  ClientCounts::Counts sum{};
  counts.addTo(sum, client);
  return *std::min_element(sum.begin(), sum.end());
}

TEST(ClientCounts, AreNeverTooLowAndRarelyTooHigh) {
  constexpr net::ClientNetwork kClients = 200;
  ClientCounts counts;
  for (net::ClientNetwork client = 0; client < kClients; ++client) counts.add(client, static_cast<int>(client % 3));
  int tooHigh = 0;
  for (net::ClientNetwork client = 0; client < kClients; ++client) {
    EXPECT_GE(countOf(counts, client), client % 3);
    tooHigh += countOf(counts, client) > client % 3 ? 1 : 0;
  }
  EXPECT_LT(tooHigh, 60);
  for (net::ClientNetwork client = 0; client < kClients; ++client) counts.add(client, -static_cast<int>(client % 3));
  for (net::ClientNetwork client = 0; client < kClients; ++client) EXPECT_EQ(countOf(counts, client), 0U);
}

TEST(ClientCounts, OfSeveralWorkersAddUp) {
  ClientCounts one;
  ClientCounts two;
  one.add(7, 1);
  two.add(7, 2);
  ClientCounts::Counts sum{};
  one.addTo(sum, 7);
  two.addTo(sum, 7);
  EXPECT_EQ(sum, (ClientCounts::Counts{3, 3}));
}

}  // namespace
}  // namespace sluice::upstream
