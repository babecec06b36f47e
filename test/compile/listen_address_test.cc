#include "proxy/compile/gateways/listen_address.h"

#include <gtest/gtest.h>

namespace sluice::compile {
namespace {

TEST(ListenAddress, IsUnusableOnlyIfNobodyCanListenThere) {
  for (const char* text :
       {"224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "::ffff:127.0.0.1", "fe80::1"}) {
    EXPECT_NE(whyUnusable(text), nullptr) << text;
  }
  for (const char* text : {"", "0.0.0.0", "::", "127.0.0.1", "10.0.0.1", "203.0.113.1", "223.255.255.255",
                           "255.255.255.254", "169.254.1.1", "::1", "fd00::1", "2001:db8::1"}) {
    EXPECT_EQ(whyUnusable(text), nullptr) << text;
  }
}

}  // namespace
}  // namespace sluice::compile
