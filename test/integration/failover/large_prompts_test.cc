// Tests fail-over of large prompts: a body as SDKs of model providers send it goes on to the next Backend whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kTooMany = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";

/// The first provider is busy, the second serves.
class LargePrompts : public testing::Test {
 protected:
  GatewaySpec spec(const std::string& retry = {}, const std::string& filters = {}) const {
    GatewaySpec spec;
    spec.backends = {{.name = "first", .hostname = "first.test", .port = first_.port()},
                     {.name = "second", .hostname = "second.test", .port = second_.port()}};
    spec.routes = routeOfRules("    - " + filters + "backendRefs: [" + backendRef("first") + ", " +
                               backendRef("second", ", weight: 0") + "]\n") +
                  "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: "
                  "providers}\nspec:\n"
                  "  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n"
                  "  retry: {codes: [429], attempts: 2, backoff: 1ms" +
                  retry + "}\n  failover: {priorities: [{backendRef: " + backendRef("second") + ", priority: 1}]}\n";
    return spec;
  }
  std::string post(const GatewayProcess& gateway, std::size_t size, const char* version = "--http1.1") {
    body_.clear();
    for (int i = 0; body_.size() < size; ++i) body_ += std::to_string(i) + ' ';
    body_.resize(size);
    return statusOf(gateway, "/v1/chat/completions", {version, "--data-binary", "@" + folder_.write("body", body_)});
  }

  TempDir folder_;
  std::string body_;  // of the last request
  RecordingOrigin first_{[](std::size_t) { return kTooMany; }};
  RecordingOrigin second_{[](std::size_t) { return kOk; }};
};

TEST_F(LargePrompts, GoOnToTheNextBackendWhole) {
  const GatewayProcess gateway(spec());
  std::size_t served = 0;
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    for (const std::size_t size : {std::size_t{300'000}, std::size_t{900'000}}) {
      EXPECT_EQ(post(gateway, size, version), "200") << size << version;
      ASSERT_EQ(second_.bodies().size(), ++served);
      EXPECT_TRUE(second_.bodies().back() == body_) << size << version;
    }
  }
  EXPECT_EQ(gateway.limitHits("replayBuffer"), 0);
}

TEST_F(LargePrompts, StreamOnAndAreToldOfBeyondTheBoundOfTheirPolicy) {
  GatewayProcess gateway(spec(", replayBytes: 512Ki"));
  EXPECT_EQ(post(gateway, 300'000), "200");
  EXPECT_EQ(post(gateway, 900'000), "429");
  EXPECT_TRUE(first_.bodies().back() == body_) << "the Backend has got all of it";
  EXPECT_TRUE(gateway.reaches("sluice_retry_unreplayable_total{route=\"test/all\",backend=\"test/first\"}", 1));
  EXPECT_TRUE(gateway.limitWasHit("replayBuffer"));
  EXPECT_THAT(gateway.accessLog(2).at(1), HasSubstr("\"retry_refused\":\"replayBuffer\""));
}

// The route's step holds the body, so nothing is lost by keeping it for the next Backend.
TEST_F(LargePrompts, AreKeptWholeIfAStepHasHeldThem) {
  const GatewayProcess gateway(
      spec(", replayBytes: 1Ki",
           "filters: [" +
               inlined("{name: model, type: 'sluice.dev/InProcess:v1', phase: request-body, config: "
                       "{request: {setHeaders: [{name: x-length, value: 'string(size(request.body))'}]}}}") +
               "]\n      "));
  EXPECT_EQ(post(gateway, 1'500'000), "200");
  ASSERT_EQ(second_.bodies().size(), 1U);
  EXPECT_TRUE(second_.bodies()[0] == body_);
}

TEST_F(LargePrompts, AreServedWithoutRoomForACopy) {
  GatewaySpec small = spec();
  small.settings = limits("processorBufferTotal: 64Ki");
  small.workers = 1;
  GatewayProcess gateway(small);
  EXPECT_EQ(post(gateway, 300'000), "429");
  EXPECT_TRUE(first_.bodies().back() == body_);
  EXPECT_TRUE(gateway.limitWasHit("processorBufferTotal"));
  EXPECT_THAT(gateway.accessLog(1).at(0), HasSubstr("\"retry_refused\":\"processorBufferTotal\""));
}

}  // namespace
}  // namespace sluice::test
