#include "proxy/upstream/dial_order.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::upstream {
namespace {

net::Addresses threeAddresses() {
  net::Addresses addresses;
  for (const char* ip : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) addresses.push_back(*net::Address::parse(ip, 80));
  return addresses;
}

TEST(DialOrder, GoesFromTheFirstAddressToTheLast) {
  DialOrder order(threeAddresses());
  const auto any = [](const net::Address&) { return true; };
  std::string dialled;
  for (bool isDue = order.seek(any); isDue; isDue = order.seek(any)) {
    dialled += order.current().ip().back();
    EXPECT_EQ(order.hasNext(), dialled.size() < 3);
    order.advance();
  }
  EXPECT_EQ(dialled, "123");
  EXPECT_EQ(order.current().ip(), "192.0.2.3") << "the last one stays the current one";
}

TEST(DialOrder, LeavesOutAddressesThatAreNotPermitted) {
  DialOrder order(threeAddresses());
  std::string asked;
  const auto isSecond = [&](const net::Address& address) {
    asked += address.ip().back();
    return address.ip() == "192.0.2.2";
  };
  EXPECT_TRUE(order.seek(isSecond));
  EXPECT_EQ(order.current().ip(), "192.0.2.2");
  order.advance();
  EXPECT_FALSE(order.seek(isSecond));
  EXPECT_EQ(asked, "123") << "each is asked about once";
  EXPECT_EQ(order.current().ip(), "192.0.2.3");
}

}  // namespace
}  // namespace sluice::upstream
