// Tests that EgressPolicies judge a request again when a payload processor changes its path or its route, through the
// binary and an external processor on grpc-js.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/processors/ext_proc_fixture.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class EgressOfProcessedRequests : public ExternalProcessorTest {
 protected:
  /// Has the server process requests in the phases that it has by default, under a policy with these rules.
  void startGuarded(const std::string& rules, const std::string& routeRules = {}) {
    startWith(routeRules.empty() ? "    - " + guarding() + backendRefs() : routeRules, {},
              egressPolicy("p", kGatewayTarget, "default: Allow, rules: [" + rules + "]"));
  }
};

TEST_F(EgressOfProcessedRequests, DependOnThePathThatAStepHasMade) {
  startGuarded(denying("edited", "http: {paths: [{value: /edited}]}, to: {hostnames: [origin.test]}"));
  EXPECT_THAT(get("nothing"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(get("path"), HasSubstr("HTTP/1.1 403"));
  EXPECT_EQ(origin_.heads().size(), 1U);
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "edited", "denied"), 1));
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "default", "allowed"), 1));
}

TEST_F(EgressOfProcessedRequests, DependOnTheBackendOfTheRouteThatAStepHasChosen) {
  startGuarded(denying("other", "to: {hostnames: [other.test]}"),
               "    - matches: [{headers: [{name: x-tenant, value: two}]}]\n      backendRefs: [" +
                   backendRef("other") + "]\n    - " + guarding() + backendRefs());
  EXPECT_THAT(get("nothing"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(get("route"), HasSubstr("HTTP/1.1 403"));
  EXPECT_TRUE(other_.heads().empty());
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "other", "denied"), 1));
}

TEST_F(EgressOfProcessedRequests, FailIfTheProcessorIsDenied) {
  startGuarded(denying("guard", "to: {hostnames: [guard.test]}"));
  EXPECT_THAT(get("nothing"), HasSubstr("HTTP/1.1 500"));
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_TRUE(gateway_->reaches(decisionsOf("p", "guard", "denied"), 1));
}

}  // namespace
}  // namespace sluice::test
