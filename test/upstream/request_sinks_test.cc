// Tests that the token of a request finds its way back to the user of the connections that made it.
#include "proxy/upstream/request_sinks.h"

#include <gtest/gtest.h>

namespace sluice::upstream {
namespace {

TEST(RequestTokens, CarryTheirUser) {
  const base::Handle<int> handle{0x0ABCDEF0, 7};
  for (const User user : {User::kExchange, User::kAsyncRequest}) {
    const http::Token token = tokenOf(user, handle);
    EXPECT_EQ(userOf(token), user);
    EXPECT_EQ(handleOf<int>(token), handle);
  }
  EXPECT_EQ(tokenOf(User::kExchange, handle), handle.toToken());
}

}  // namespace
}  // namespace sluice::upstream
