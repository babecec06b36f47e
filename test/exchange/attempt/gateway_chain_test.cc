#include "proxy/exchange/attempt/gateway_chain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::exchange {
namespace {

class GatewayChain : public ::testing::Test {
 protected:
  /// Returns the passage by these lines, which either field may have.
  Passage passage(const std::vector<std::string_view>& lines) {
    const Passage byVia = passageBy(http::FieldId::kVia, lines);
    EXPECT_EQ(passageBy(http::FieldId::kSluiceVia, lines), byVia);
    return byVia;
  }
  Passage passageBy(http::FieldId field, const std::vector<std::string_view>& lines) {
    http::Headers headers;
    for (const std::string_view line : lines) headers.add(arena_, field, line);
    return passageOf(headers, identity_);
  }
  std::string marked(base::ErrorType type) {
    http::Headers headers;
    markFinal(arena_, identity_, base::Error::upstream(type, "text"), headers);
    EXPECT_TRUE(isFinalBehind(headers));
    return std::string(headers.find("proxy-status")->value);
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  GatewayIdentity identity_{"sluice-test"};
};

TEST_F(GatewayChain, RecognizesARequestThatHasPassedBefore) {
  for (const char* via : {"1.1 sluice-other, 1.1 sluice-test", "2 sluice-test (a comment)",
                          "HTTP/1.1 sluice-test,1.1 other", "1.0\tsluice-test", "1.1 sluice-test, 1.1 sluice-other"}) {
    EXPECT_EQ(passage({via}), Passage::kHere) << via;
  }
  EXPECT_EQ(passage({"1.1 sluice-test", "1.1 sluice-other"}), Passage::kHere);
}

TEST_F(GatewayChain, RecognizesARequestOfAnotherGateway) {
  for (const char* via : {"1.1 sluice-tests", "1.1 sluice-test:80", "1.1 other, 2 sluice-other (a comment)"}) {
    EXPECT_EQ(passage({via}), Passage::kGateway) << via;
  }
  EXPECT_EQ(passage({"1.1 sluice-other", "1.1 other"}), Passage::kGateway);
}

TEST_F(GatewayChain, TakesOtherProxiesForNoGateways) {
  EXPECT_EQ(passage({}), Passage::kNone);
  for (const char* via : {"1.1 other", "1.1 my-sluice-test", "sluice-test", "1.1 sluice"}) {
    EXPECT_EQ(passage({via}), Passage::kNone) << via;
  }
}

TEST_F(GatewayChain, NamesErrorsByTheRegistry) {
  EXPECT_EQ(marked(base::ErrorType::kConnectionRefused), "sluice-test; error=connection_refused");
  EXPECT_EQ(marked(base::ErrorType::kMisdirectedRequest), "sluice-test; error=http_request_error");
  EXPECT_EQ(marked(base::ErrorType::kRateLimited), "sluice-test; error=http_request_denied");
  for (const auto type : {base::ErrorType::kProcessorFailed, base::ErrorType::kProcessorCapacityReached,
                          base::ErrorType::kProcessorTimeout}) {
    EXPECT_EQ(marked(type), "sluice-test; error=proxy_internal_error");
  }
}

TEST_F(GatewayChain, AddsItsEntryBehindThoseOfOthers) {
  http::Headers headers;
  headers.add(arena_, "proxy-status", "sluice-other; received-status=503");
  markFinal(arena_, identity_, 503, headers);
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers.all()[1].value, "sluice-test; received-status=503");
  headers.add(arena_, "proxy-status", "cache.example; error=dns_error");
  hideFinal(arena_, headers);
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers.all()[0].value, "cache.example; error=dns_error");
  EXPECT_FALSE(isFinalBehind(headers));
}

}  // namespace
}  // namespace sluice::exchange
