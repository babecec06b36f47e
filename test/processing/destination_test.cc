#include "proxy/processing/destination.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sluice::processing {
namespace {

class DestinationTest : public ::testing::Test {
 protected:
  static constexpr std::array<Destination::ResolvedAddress, 3> kAll = {
      {{"192.0.2.1", 443, 0}, {"2001:db8::1", 443, 1}, {"192.0.2.3", 8443, 2}}};
  std::string left() const {
    std::string text;
    for (const auto& address : destination_.addresses()) {
      text += std::string(address.ip) + " " + std::to_string(address.port) + " " + std::to_string(address.number) + ";";
    }
    return text;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  Destination destination_{"api.example.com", 443, "sni.example.com", kAll};
};

TEST_F(DestinationTest, HasAHostAPortAServerNameAndAddresses) {
  EXPECT_EQ(destination_.host(), "api.example.com");
  EXPECT_EQ(destination_.port(), 443);
  EXPECT_EQ(destination_.serverName(), "sni.example.com");
  EXPECT_EQ(left(), "192.0.2.1 443 0;2001:db8::1 443 1;192.0.2.3 8443 2;");
}

TEST_F(DestinationTest, KeepsOrderAndNumbersOfTheAddressesThatAreLeft) {
  destination_.narrow(arena_, [](const auto& address) { return address.port == 8443 || address.number == 0; });
  EXPECT_EQ(left(), "192.0.2.1 443 0;192.0.2.3 8443 2;");
  destination_.narrow(arena_, [](const auto& address) { return address.ip == "192.0.2.3"; });
  EXPECT_EQ(left(), "192.0.2.3 8443 2;");
}

TEST_F(DestinationTest, StaysEmptyOnceEveryAddressIsRemoved) {
  destination_.narrow(arena_, [](const auto&) { return false; });
  destination_.narrow(arena_, [](const auto&) { return true; });
  EXPECT_EQ(left(), "");
}

TEST_F(DestinationTest, ACopyKeepsTheAddressesThatTheOriginalLoses) {
  const Destination before = destination_;
  destination_.narrow(arena_, [](const auto&) { return false; });
  destination_ = before;
  EXPECT_EQ(destination_.addresses().size(), 3U);
}

}  // namespace
}  // namespace sluice::processing
