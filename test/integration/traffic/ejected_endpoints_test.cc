// Tests the outlier detection of single endpoints of a Service through the binary: the one that fails gets no requests
// for a time, while the others serve; status, metrics and events tell of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using std::chrono::hours;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::string emptyAnswer(const std::string& status) { return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"; }

class EjectedEndpoints : public testing::TestWithParam<SpelledPolicy> {
 protected:
  void start(const SpelledPolicy& policy) {
    GatewaySpec spec;
    spec.settings = onlyTimeouts("connect: 24h");
    spec.startedBy = time_.startedBy();
    spec.routes =
        "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\nspec: {ports: [{name: web, port: "
        "80}]}\n---\n" +
        slice("one", one_) + slice("two", two_) + routeOfRules("    - backendRefs: [{name: shop, port: 80}]\n") +
        policy.forTarget("kind: HTTPRoute, name: all");
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string slice(const std::string& name, const RecordingOrigin& endpoint) {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: " + name +
           ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
           std::to_string(endpoint.port()) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n---\n";
  }
  std::vector<int> ask(int count) const {
    std::vector<int> statuses;
    for (int i = 0; i < count; ++i) statuses.push_back(askRaw(gateway_->port()).status);
    return statuses;
  }
  /// Returns how many requests the endpoint that fails has got.
  std::size_t failures() const { return two_.heads().size(); }
  void askUntilFailures(std::size_t count) const {
    constexpr int kMost = 1000;  // the chance that none of so many goes there is next to nothing
    for (int i = 0; i < kMost && failures() < count; ++i) ask(1);
    EXPECT_EQ(failures(), count);
  }

  double ejections() const {
    return gateway_->metric(
        "sluice_upstream_ejections_total{route=\"test/all\",backend=\"test/shop\",ejected=\"endpoint\"}");
  }
  std::string addressOfTwo() const { return "127.0.0.1:" + std::to_string(two_.port()); }
  bool isTold(const std::string& event) const {
    return eventually([&] { return gateway_->adminGet("/events").find(event) != std::string::npos; });
  }

  std::atomic<bool> fails_ = true;
  const RecordingOrigin one_{[](std::size_t) { return emptyAnswer("200 OK"); }};
  const RecordingOrigin two_{[this](std::size_t) { return emptyAnswer(fails_ ? "500 Sorry" : "200 OK"); }};
  PassedTime time_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_P(EjectedEndpoints, GetNoRequestsUntilTheirTimeIsOver) {
  start(GetParam());
  const std::size_t before = failures();
  askUntilFailures(before + 3);
  EXPECT_THAT(ask(30), Each(200));
  EXPECT_EQ(failures(), before + 3);

  time_.pass(*gateway_, hours(1));
  askUntilFailures(before + 4);
  EXPECT_THAT(ask(30), Each(200)) << "one failure ejects it again";
  EXPECT_EQ(failures(), before + 4);

  fails_ = false;
  time_.pass(*gateway_, hours(2));
  askUntilFailures(before + 10);
  EXPECT_THAT(ask(30), Each(200));
}

TEST_P(EjectedEndpoints, AreInTheStatusTheMetricsAndTheEvents) {
  start(GetParam());
  EXPECT_THAT(gateway_->adminGet("/status"), Not(HasSubstr("\"state\":\"ejected\"")));
  askUntilFailures(failures() + 3);
  EXPECT_THAT(
      gateway_->adminGet("/status"),
      AllOf(HasSubstr("{\"object\":\"Service/test/shop\",\"endpoint\":\"" + addressOfTwo() + "\",\"address\":\"" +
                      addressOfTwo() + "\",\"weight\":1,\"state\":\"ejected\",\"since\":\""),
            HasSubstr("Z\",\"by\":\"HTTPRoute test/all, rule 0\"}"),
            HasSubstr("\"endpoint\":\"127.0.0.1:" + std::to_string(one_.port()) + "\",\"address\":\"127.0.0.1:" +
                      std::to_string(one_.port()) + "\",\"weight\":1,\"state\":\"healthy\"")));
  EXPECT_EQ(ejections(), 1);
  EXPECT_TRUE(
      isTold("\"reason\":\"EndpointEjected\",\"object\":\"Service test/shop\",\"message\":\"HTTPRoute test/all, "
             "rule 0 ejects endpoint " +
             addressOfTwo() + " for 1h: 3 failures in a row\""));

  time_.pass(*gateway_, hours(1));
  EXPECT_THAT(gateway_->adminGet("/status"), Not(HasSubstr("\"state\":\"ejected\"")));
  askUntilFailures(failures() + 1);
  EXPECT_EQ(ejections(), 2);
  EXPECT_TRUE(isTold(": it still fails after the last ejection\""));
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, EjectedEndpoints,
    testing::Values(
        ownFields("healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h, maxEjectionTime: 9h}}"),
        envoyFields("healthCheck: {passive: {consecutive5XxErrors: 3, baseEjectionTime: 1h}}")));

}  // namespace
}  // namespace sluice::test
