#include "proxy/exchange/tunnel/tunnel_places.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

namespace sluice::exchange {
namespace {

net::ClientNetwork networkAt(const char* address) { return net::networkOf(*net::Address::parse(address, 1)); }

base::LimitSettings boundsOf(std::uint64_t all, std::uint64_t ofClient) {
  base::LimitSettings limits;
  limits.tunnels = all;
  limits.tunnelsPerAddress = ofClient;
  return limits;
}

TEST(TunnelPlaces, AreGivenBackAtTheEndOfATunnel) {
  TunnelPlaces places(boundsOf(1, 0));
  std::string_view reached;
  {
    const auto first = places.take(networkAt("192.0.2.1"), reached);
    EXPECT_TRUE(first);
    EXPECT_FALSE(places.take(networkAt("192.0.2.2"), reached));
    EXPECT_EQ(reached, "tunnels");
  }
  EXPECT_TRUE(places.take(networkAt("192.0.2.2"), reached));
}

TEST(TunnelPlaces, AreBoundedForEachClientToo) {
  TunnelPlaces places(boundsOf(10, 1));
  std::string_view reached;
  auto first = places.take(networkAt("2001:db8::1"), reached);
  EXPECT_FALSE(places.take(networkAt("2001:db8::2"), reached)) << "one network of IPv6 is one client";
  EXPECT_EQ(reached, "tunnelsPerAddress");
  EXPECT_TRUE(places.take(networkAt("192.0.2.1"), reached));
  first.reset();
  EXPECT_TRUE(places.take(networkAt("2001:db8::2"), reached));
}

TEST(TunnelPlaces, FollowTheSettings) {
  TunnelPlaces places(boundsOf(2, 0));
  std::string_view reached;
  const auto first = places.take(networkAt("192.0.2.1"), reached);
  places.setBounds(boundsOf(1, 0));
  EXPECT_FALSE(places.take(networkAt("192.0.2.1"), reached));
  places.setBounds(boundsOf(2, 1));
  EXPECT_FALSE(places.take(networkAt("192.0.2.1"), reached)) << "tunnels from before are counted";
  EXPECT_TRUE(places.take(networkAt("192.0.2.2"), reached));
}

}  // namespace
}  // namespace sluice::exchange
