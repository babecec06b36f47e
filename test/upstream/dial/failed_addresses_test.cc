#include "proxy/upstream/dial/failed_addresses.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace sluice::upstream {
namespace {

using std::chrono::seconds;

net::Address failing(const std::string& ip, std::uint16_t port = 80) { return *net::Address::parse(ip, port); }

class FailedAddressesTable : public ::testing::Test {
 protected:
  /// Returns the last bytes of three addresses in the order in which they are tried.
  std::string order(const char* tlsName = "") const {
    net::Addresses addresses{failing("192.0.2.1"), failing("192.0.2.2"), failing("192.0.2.3")};
    table.putLast(addresses, tlsName, now);
    std::string text;
    for (const net::Address& address : addresses) text += address.ip().back();
    return text;
  }

  base::MonotonicTime now{seconds(1000)};
  FailedAddresses table;
};

TEST_F(FailedAddressesTable, PutsThemLastForAWhile) {
  EXPECT_EQ(order(), "123");
  table.add(failing("192.0.2.1"), "", now);
  EXPECT_EQ(order(), "231");
  EXPECT_EQ(order("a.test"), "123") << "over TLS it is another one";
  table.add(failing("192.0.2.3"), "b.test", now);
  EXPECT_EQ(order("a.test"), "123") << "and for each name that TLS asks for";
  table.add(failing("192.0.2.2"), "", now);
  EXPECT_EQ(order(), "312");
  table.add(failing("192.0.2.3"), "", now);
  EXPECT_EQ(order(), "123") << "all have failed";
  now += FailedAddresses::kLifetime;
  EXPECT_EQ(order(), "123");
  EXPECT_FALSE(table.holds(failing("192.0.2.1"), "", now));
}

TEST_F(FailedAddressesTable, ForgetsOneThatTakesAConnection) {
  table.add(failing("192.0.2.1"), "", now);
  table.remove(failing("192.0.2.1", 81), "");
  EXPECT_TRUE(table.holds(failing("192.0.2.1"), "", now)) << "another port";
  table.remove(failing("192.0.2.1"), "");
  EXPECT_EQ(order(), "123");
}

TEST_F(FailedAddressesTable, CountsFromTheLastFailure) {
  table.add(failing("192.0.2.1"), "", now);
  now += seconds(20);
  table.add(failing("192.0.2.1"), "", now);
  now += seconds(20);
  EXPECT_EQ(order(), "231");
}

TEST_F(FailedAddressesTable, ForgetsTheOldestIfThereAreTooMany) {
  for (std::size_t i = 0; i < FailedAddresses::kMost; ++i) {
    table.add(failing("2001:db8::1", static_cast<std::uint16_t>(i + 1)), "", now);
    now += std::chrono::milliseconds(1);
  }
  EXPECT_TRUE(table.holds(failing("2001:db8::1", 1), "", now));
  table.add(failing("192.0.2.1"), "", now);
  EXPECT_FALSE(table.holds(failing("2001:db8::1", 1), "", now));
  EXPECT_TRUE(table.holds(failing("2001:db8::1", 2), "", now));
  EXPECT_EQ(order(), "231");
}

TEST(FailedAddressesThreads, MayBeUsedByAllAtOnce) {
  FailedAddresses table;
  const base::MonotonicTime now{seconds(1000)};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&table, now, worker] {
      for (std::uint16_t port = 1; port < 200; ++port) {
        const char* tlsName = worker % 2 == 0 ? "a.test" : "";
        table.add(failing("192.0.2.1", port), tlsName, now);
        net::Addresses addresses{failing("192.0.2.1", port), failing("192.0.2.2", port)};
        table.putLast(addresses, tlsName, now);
        table.remove(failing("192.0.2.1", port), tlsName);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_FALSE(table.holds(failing("192.0.2.1", 7), "a.test", now));
}

}  // namespace
}  // namespace sluice::upstream
