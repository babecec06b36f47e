#include "proxy/routing/request_hash.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/base/arena.h"

namespace sluice::routing {
namespace {

using base::HashSource;
using base::LoadBalancing;

LoadBalancing termsOf(HashSource source, std::vector<std::string> names = {}) {
  LoadBalancing terms;
  terms.type = base::BalancerType::kMaglev;
  terms.source = source;
  terms.names = std::move(names);
  return terms;
}

class RequestHash : public ::testing::Test {
 protected:
  std::optional<std::uint64_t> of(const LoadBalancing& terms,
                                  const std::vector<std::pair<std::string, std::string>>& fields,
                                  std::string_view target = "/", std::string_view client = "192.0.2.1") {
    http::RequestHead head;
    head.target = target;
    for (const auto& [name, value] : fields) head.headers.add(arena_, name, value);
    return requestHash(terms, head, client);
  }

 private:
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(RequestHash, IsThatOfTheClientsAddress) {
  const LoadBalancing terms = termsOf(HashSource::kSourceIp);
  EXPECT_EQ(of(terms, {{"x", "1"}}), of(terms, {}, "/other"));
  EXPECT_NE(of(terms, {}), of(terms, {}, "/", "192.0.2.2"));
  EXPECT_EQ(of(termsOf(HashSource::kNone), {}), std::nullopt);
}

TEST_F(RequestHash, IsThatOfHeaderFields) {
  const LoadBalancing one = termsOf(HashSource::kHeader, {"x-user"});
  EXPECT_EQ(of(one, {}), std::nullopt);
  EXPECT_EQ(of(one, {{"x-user", "ann"}}), of(one, {{"x-other", "1"}, {"x-user", "ann"}}));
  EXPECT_NE(of(one, {{"x-user", "ann"}}), of(one, {{"x-user", "bob"}}));
  const LoadBalancing two = termsOf(HashSource::kHeader, {"x-user", "x-region"});
  EXPECT_NE(of(two, {{"x-user", "a"}, {"x-region", "b"}}), of(two, {{"x-user", "b"}, {"x-region", "a"}}));
  EXPECT_NE(of(two, {{"x-user", "a"}}), of(two, {{"x-region", "a"}}));
  EXPECT_EQ(of(two, {}), std::nullopt);
}

TEST_F(RequestHash, IsThatOfACookie) {
  const LoadBalancing terms = termsOf(HashSource::kClientCookie, {"cart"});
  EXPECT_EQ(of(terms, {{"cookie", "a=1"}}), std::nullopt);
  EXPECT_EQ(of(terms, {{"cookie", "cart=7"}}), of(terms, {{"cookie", "a=1;cart=7; b=2"}}));
  EXPECT_EQ(of(terms, {{"cookie", "cart=7"}}), of(terms, {{"cookie", "cartoon=1"}, {"cookie", "x; cart=7"}}));
  EXPECT_NE(of(terms, {{"cookie", "cart=7"}}), of(terms, {{"cookie", "cart=8"}}));
}

TEST_F(RequestHash, IsThatOfParametersHoweverTheyAreEncoded) {
  const LoadBalancing terms = termsOf(HashSource::kQueryParam, {"cart"});
  EXPECT_EQ(of(terms, {}, "/a"), std::nullopt);
  EXPECT_EQ(of(terms, {}, "/a?cart=a%62c"), of(terms, {}, "/b?x=1&cart=abc"));
  EXPECT_NE(of(terms, {}, "/a?cart=abc"), of(terms, {}, "/a?cart=abd"));
}

}  // namespace
}  // namespace sluice::routing
