#include "proxy/kubernetes/objects/reported_addresses.h"

#include <gtest/gtest.h>

namespace sluice::kubernetes {
namespace {

config::ReportedAddresses reportedIn(const char* status) {
  config::ReportedAddresses addresses;
  addReportedAddresses("Gateway demo/egress", status, addresses);
  return addresses;
}

TEST(ReportedAddresses, AreTheIpAddressesOfTheStatus) {
  const config::ReportedAddresses both{{"Gateway demo/egress", "127.8.0.1"}, {"Gateway demo/egress", "fd00:8::1"}};
  EXPECT_EQ(reportedIn(R"({"addresses": [{"type": "IPAddress", "value": "127.8.0.1"}, {"value": "FD00:8:0::1"},
                                         {"type": "Hostname", "value": "a.test"}, {"type": "IPAddress"}, 7]})"),
            both);
}

TEST(ReportedAddresses, AreNoneInAStatusThatIsNotLegible) {
  for (const char* status : {"", "{", "7", "{}", R"({"addresses": null})", R"({"addresses": {"value": "127.8.0.1"}})",
                             R"({"addresses": ["127.8.0.1"]})"}) {
    EXPECT_TRUE(reportedIn(status).empty()) << status;
  }
}

}  // namespace
}  // namespace sluice::kubernetes
