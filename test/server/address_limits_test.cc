#include "proxy/server/connection/address_limits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "proxy/observe/metrics.h"

namespace sluice::server {
namespace {

class AddressLimitsTest : public testing::Test {
 protected:
  void bound(std::uint64_t connections, std::uint64_t handshakes) {
    base::LimitSettings limits;
    limits.connectionsPerAddress = connections;
    limits.handshakesPerAddress = handshakes;
    limits_.setBounds(limits);
  }
  /// Returns true if a connection is admitted, which stays open then.
  bool admit(const std::string& ip, bool tls = false) {
    AddressLimits::Place place;
    const bool admitted = limits_.admit(*net::Address::parse(ip, 1), tls, now_, place).empty();
    if (admitted) open_.push_back(std::move(place));
    return admitted;
  }
  std::uint64_t hits(const char* limit) { return shard_.at<observe::Metric::kLimitHits>(limit).value(); }

  observe::MetricsRegistry registry_;
  observe::MetricShard shard_{registry_};
  AddressLimits limits_{shard_};
  base::MonotonicTime now_{};
  std::vector<AddressLimits::Place> open_;
};

TEST_F(AddressLimitsTest, BoundNothingUnlessTold) {
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(admit("192.0.2.1", true));
  EXPECT_EQ(open_.front(), nullptr) << "nothing is remembered either";
}

TEST_F(AddressLimitsTest, BoundTheOpenConnectionsOfOneAddress) {
  bound(2, 0);
  EXPECT_TRUE(admit("192.0.2.1"));
  EXPECT_TRUE(admit("192.0.2.1", true));
  EXPECT_FALSE(admit("192.0.2.1"));
  EXPECT_TRUE(admit("192.0.2.2")) << "another address has room of its own";
  open_.erase(open_.begin());
  EXPECT_TRUE(admit("192.0.2.1")) << "a connection that ends leaves its place";
  EXPECT_FALSE(admit("192.0.2.1"));
  EXPECT_EQ(hits("connectionsPerAddress"), 2u);
  EXPECT_EQ(hits("handshakesPerAddress"), 0u);
}

TEST_F(AddressLimitsTest, TakeTheNetworkOfAnIpv6HostForItsAddress) {
  bound(1, 0);
  EXPECT_TRUE(admit("2001:db8::1"));
  EXPECT_FALSE(admit("2001:db8::ffff:2"));
  EXPECT_TRUE(admit("2001:db8:0:1::1"));
}

TEST_F(AddressLimitsTest, BoundTheHandshakesThatAnAddressBeginsInASecond) {
  bound(0, 2);
  EXPECT_TRUE(admit("192.0.2.1", true));
  EXPECT_TRUE(admit("192.0.2.1", true));
  EXPECT_FALSE(admit("192.0.2.1", true));
  EXPECT_TRUE(admit("192.0.2.1")) << "a connection without TLS has none";
  EXPECT_TRUE(admit("192.0.2.2", true));
  now_ += std::chrono::milliseconds(999);
  EXPECT_FALSE(admit("192.0.2.1", true));
  now_ += std::chrono::milliseconds(1);
  EXPECT_TRUE(admit("192.0.2.1", true));
  EXPECT_EQ(hits("handshakesPerAddress"), 2u);
}

TEST_F(AddressLimitsTest, RememberNoAddressThatIsGone) {
  bound(1, 1);
  for (int i = 0; i < 5000; ++i) {
    now_ += std::chrono::seconds(2);
    AddressLimits::Place place;
    const std::string ip = "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256);
    ASSERT_EQ(limits_.admit(*net::Address::parse(ip, 1), true, now_, place), "");
    ASSERT_LE(limits_.remembered(), 128u);
  }
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(admit("11.0." + std::to_string(i / 256) + "." + std::to_string(i % 256)));
  }
  EXPECT_GE(limits_.remembered(), 5000u);
  EXPECT_FALSE(admit("11.0.0.1")) << "an address with a connection is never forgotten";
}

}  // namespace
}  // namespace sluice::server
