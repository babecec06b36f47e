// The shares of the process's descriptors.
#include "proxy/server/serving/descriptor_shares.h"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::server {
namespace {

TEST(DescriptorShares, DivideAnOrdinaryLimit) {
  const DescriptorShares shares(1024);
  EXPECT_EQ(shares.adminConnections, 16u);
  EXPECT_EQ(shares.lookups, 64u);
  EXPECT_EQ(shares.backends, 1024u - 64 - 32 - 8);
  EXPECT_EQ(shares.clients, 767u);
}

TEST(DescriptorShares, DivideASmallLimit) {
  const DescriptorShares shares(64);
  EXPECT_EQ(shares.adminConnections, 4u);
  EXPECT_EQ(shares.lookups, 8u);
  EXPECT_EQ(shares.backends, 36u);
  EXPECT_EQ(shares.clients, 30u);
}

TEST(DescriptorShares, LeaveDescriptorsForEveryUse) {
  for (std::size_t most = 48; most < 100'000; most += 7) {
    const DescriptorShares shares(most);
    EXPECT_LT(shares.clients, shares.backends) << most;
    EXPECT_LE(shares.backends + 4 * shares.adminConnections + shares.lookups / 2 + DescriptorShares::kOthers, most);
  }
}

TEST(DescriptorShares, DivideTheLookupsAmongTheWorkers) {
  EXPECT_EQ(DescriptorShares(1024).lookupsOf(1), 64u);
  EXPECT_EQ(DescriptorShares(1024).lookupsOf(2), 32u);
  EXPECT_EQ(DescriptorShares(1024).lookupsOf(100), 4u);
  EXPECT_EQ(DescriptorShares(1'000'000).lookupsOf(8), net::ResolverParts{}.maxLookups);
}

TEST(DescriptorShares, AcceptAnyLimit) {
  EXPECT_EQ(DescriptorShares(0).clients, 0u);
  EXPECT_EQ(DescriptorShares(8).backends, 0u);
  const DescriptorShares endless(std::numeric_limits<std::size_t>::max());
  EXPECT_LT(endless.clients, endless.backends);
}

}  // namespace
}  // namespace sluice::server
