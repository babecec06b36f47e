// Tests two gateways in a row: the first sends its requests to the second, which is its parent, as to any Backend.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

constexpr const char* kTriesTwiceMore = "retry: {codes: [503, 508], attempts: 2, backoff: 1ms}";
constexpr const char* kFails = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";
constexpr const char* kGetByGateway = "GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 sluice-0a1b2c3d\r\n\r\n";

/// Returns a gateway whose only rule retries, and sends everything to Backends at these ports.
GatewaySpec chained(const std::vector<std::uint16_t>& ports) {
  GatewaySpec spec;
  std::string refs;
  for (const std::uint16_t port : ports) {
    const std::string name = "b" + std::to_string(spec.backends.size());
    spec.backends.push_back({.name = name, .hostname = name + ".test", .port = port});
    // The first Backend gets all requests, and the others are used after failures.
    refs += (refs.empty() ? "" : ", ") + backendRef(name, refs.empty() ? ", weight: 1000000" : ", weight: 1");
  }
  spec.routes = routeOfRules("    - " + std::string(kTriesTwiceMore) + "\n      backendRefs: [" + refs + "]\n");
  return spec;
}

class ChainedGateways : public testing::Test {
 protected:
  std::size_t asked() const { return origin_.heads().size(); }

  const RawOrigin origin_{RawOrigin::answering(kFails)};
  const RawOrigin serving_{RawOrigin::answering(saying("served"))};
};

TEST_F(ChainedGateways, AFailingOriginSeesTheAttemptsOfTheParentAlone) {
  const GatewayProcess parent(chained({origin_.port()}));
  const GatewayProcess first(chained({parent.port()}));
  const ReceivedResponse answer = askRaw(first.port());
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "busy");
  EXPECT_EQ(asked(), 3U);
  EXPECT_EQ(answer.field("proxy-status"), std::nullopt) << "this is between gateways";
  EXPECT_EQ(askRaw(parent.port()).field("proxy-status"), std::nullopt);
  EXPECT_EQ(asked(), 6U);
}

TEST_F(ChainedGateways, MakeTheAttemptsOfTheLastAlone) {
  const GatewayProcess last(chained({origin_.port()}));
  const GatewayProcess middle(chained({last.port()}));
  const GatewayProcess first(chained({middle.port()}));
  EXPECT_EQ(askRaw(first.port()).status, 503);
  EXPECT_EQ(asked(), 3U);
}

TEST_F(ChainedGateways, AParentMarksItsFailureAsFinal) {
  const GatewayProcess parent(chained({origin_.port()}));
  const std::string mark = askRaw(parent.port(), kGetByGateway).field("proxy-status").value_or("none");
  EXPECT_TRUE(mark.starts_with("sluice-")) << mark;
  EXPECT_TRUE(mark.ends_with("; received-status=503")) << mark;
}

TEST_F(ChainedGateways, AnOriginThatIsGoneIsTriedByTheParentAlone) {
  GatewayProcess parent(chained({freePort()}));
  const GatewayProcess first(chained({parent.port()}));
  EXPECT_EQ(askRaw(first.port()).status, 503);
  const std::string mark = askRaw(parent.port(), kGetByGateway).field("proxy-status").value_or("none");
  EXPECT_TRUE(mark.ends_with("; error=connection_refused")) << mark;
  EXPECT_EQ(parent.accessLog(2).size(), 2U) << "one request from each";
}

TEST_F(ChainedGateways, AParentThatIsGoneIsLeftForAnother) {
  const GatewayProcess parent(chained({serving_.port()}));
  const GatewayProcess first(chained({freePort(), parent.port()}));
  EXPECT_EQ(askRaw(first.port()).body, "served");
}

TEST_F(ChainedGateways, AParentWhoseOriginFailsIsEjectedLikeOneThatFailsItself) {
  const GatewayProcess parent(chained({origin_.port()}));
  GatewaySpec spec = chained({parent.port(), serving_.port()});
  spec.routes +=
      "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: p}\n"
      "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]\n  failover: {priorities: "
      "[{backendRef: " +
      backendRef("b1") + ", priority: 1}]}\n  healthCheck: {passive: {consecutive5XxErrors: 2}}\n";
  const GatewayProcess first(spec);
  EXPECT_EQ(askRaw(first.port()).status, 503);
  EXPECT_EQ(askRaw(first.port()).status, 503) << "the parent has had the last word";
  EXPECT_EQ(asked(), 6U);
  EXPECT_EQ(askRaw(first.port()).body, "served");
}

TEST_F(ChainedGateways, ARequestInALoopIsRefusedAtOnce) {
  GatewayProcess first(chained({origin_.port()}));
  GatewayProcess second(chained({first.port()}));
  first.reload(chained({second.port()}));
  EXPECT_EQ(askRaw(first.port()).status, 508);
  EXPECT_EQ(second.accessLog(1).size(), 1U);
  EXPECT_EQ(first.accessLog(2).size(), 2U) << "it comes back once, and nobody tries it again";
  EXPECT_EQ(asked(), 0U);
}

/// Returns a policy by which a Backend of chained() gets no Via.
std::string withoutVia(const std::string& backend) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: test, name: v}\n"
         "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " +
         backend + "}]\n  via: \"Off\"\n";
}

TEST_F(ChainedGateways, ALoopEndsAlthoughOneOrBothSendNoVia) {
  for (const bool both : {false, true}) {
    GatewaySpec there = chained({origin_.port()});
    GatewayProcess first(there);
    GatewaySpec back = chained({first.port()});
    back.routes += withoutVia("b0");
    GatewayProcess second(back);
    there = chained({second.port()});
    if (both) there.routes += withoutVia("b0");
    first.reload(there);
    EXPECT_EQ(askRaw(first.port()).status, 508);
    EXPECT_EQ(second.accessLog(1).size(), 1U);
    EXPECT_EQ(first.accessLog(2).size(), 2U) << "it comes back once";
  }
  EXPECT_EQ(asked(), 0U);
}

TEST_F(ChainedGateways, ABackendWithoutViaGetsAllElementsInAnotherField) {
  GatewaySpec spec = chained({serving_.port()});
  spec.routes += withoutVia("b0");
  const GatewayProcess gateway(spec);
  EXPECT_EQ(
      askRaw(gateway.port(), "GET / HTTP/1.1\r\nHost: a\r\nVia: 1.0 other\r\nConnection: sluice-via\r\n\r\n").status,
      200);
  const std::string head = serving_.heads().back();
  EXPECT_EQ(countOf(head, "\r\nvia:"), 0U) << head;
  EXPECT_EQ(countOf(head, "\r\nsluice-via: 1.0 other\r\n"), 1U) << head;
  EXPECT_EQ(countOf(head, "\r\nsluice-via: 1.1 sluice-"), 1U) << head;
}

}  // namespace
}  // namespace sluice::test
