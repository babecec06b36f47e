#include "proxy/routing/policy/url_rewrite.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace sluice::routing {
namespace {

TEST(UrlRewrite, ReplacesThePrefixWithTheParametersOfItsSegments) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"/v1/api", "/v1/api/chat?a=;b", "/new/chat?a=;b"},
      {"/v1/api", "/v1/api", "/new"},
      {"/v1/api", "/v1;x=1/api;y=2/chat;z=3", "/new/chat;z=3"},
      {"/v1/api", "/v1/api;y=2", "/new"},
      {"/v1/api", "/;x/v1/api/chat", "/new/chat"},
      {"/v1", "/v1;x=1?q", "/new?q"},
      {"", "/;x=1/a", "/new/;x=1/a"},
      {"/a;b", "/a;b/c", "/new/c"},
  };
  base::ChunkPool pool;
  base::Arena arena(pool);
  for (const auto& [prefix, target, rewritten] : cases) {
    UrlRewrite rewrite;
    rewrite.path = PathRewrite::kPrefixMatch;
    rewrite.prefix = prefix;
    rewrite.replacement = "/new";
    EXPECT_EQ(rewrite.rewritten(arena, target), rewritten) << prefix << " " << target;
  }
}

}  // namespace
}  // namespace sluice::routing
