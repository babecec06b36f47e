#include "proxy/routing/backend_identity.h"

#include <gtest/gtest.h>

namespace sluice::routing {
namespace {

TEST(BackendIdentity, IsEqualIfItsTextIs) {
  const BackendIdentity one("api.example:443 tls");
  EXPECT_EQ(one, BackendIdentity("api.example:443 tls"));
  EXPECT_EQ(one.hash(), BackendIdentity("api.example:443 tls").hash());
  EXPECT_NE(one, BackendIdentity("api.example:444 tls"));
  EXPECT_TRUE(one < BackendIdentity("b"));
}

TEST(BackendIdentity, OfNoDestinationHasNoText) {
  EXPECT_TRUE(BackendIdentity().empty());
  EXPECT_EQ(BackendIdentity(), BackendIdentity(""));
}

}  // namespace
}  // namespace sluice::routing
