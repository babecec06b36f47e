// Tests processors that need something of their environment which may be missing, and come into service by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProcessorLoads : public testing::Test {
 protected:
  /// Returns a gateway whose /guarded needs the script; /other does not.
  GatewaySpec spec(const std::string& more = {}) const {
    const std::string script = "{name: script, type: 'acme.test/Script:v1', phase: request-headers, config: {file: '" +
                               file() + "'}" + more + "}";
    return {
        .backends = {{.port = origin_.port()}},
        .routes = routeOfRules("    - matches: [{path: {value: /guarded}}]\n      filters: [" + inlined(script) +
                               "]\n" + backendRefs() + "    - matches: [{path: {value: /other}}]\n" + backendRefs()),
        .program = "sluice-asking"};
  }
  std::string file() const { return folder_.path() + "/script"; }
  /// Puts a complete file in its place.
  void put(const std::string& script) const { std::filesystem::rename(folder_.write("new-" + script, script), file()); }
  static std::string get(const GatewayProcess& gateway, const std::string& target) {
    return run({"curl", "-sS", "-i", "--max-time", "30", gateway.url(target)}).output;
  }
  /// Waits until a configuration was served once more after the first one, without a reload by anybody.
  static bool isServedAgain(const GatewayProcess& gateway, int times = 1) {
    return gateway.reaches("sluice_config_reloads_total{result=\"success\"}", times);
  }
  static std::string condition(const std::string& status, const std::string& reason) {
    return "{\"type\":\"extension.sluice.dev/script\",\"status\":\"" + status + "\",\"reason\":\"" + reason + "\"";
  }

  TempDir folder_;
  EchoOrigin origin_{std::nullopt};
};

TEST_F(ProcessorLoads, AMissingOneRefusesItsRequestsAloneAndComesIntoServiceByItself) {
  const GatewayProcess gateway(spec());
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(get(gateway, "/other"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(condition("False", "ExtensionUnavailable")));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("script is missing"));
  put("one");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("x-script: one"));
  EXPECT_THAT(gateway.adminGet("/status"), Not(HasSubstr("extension.sluice.dev/script")));
}

TEST_F(ProcessorLoads, AMissingOneThatFailsOpenIsLeftOut) {
  const GatewayProcess gateway(spec(", failOpen: true"));
  const std::string skipped = get(gateway, "/guarded");
  EXPECT_THAT(skipped, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(skipped, Not(HasSubstr("x-script")));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(condition("False", "ExtensionUnavailable")));
  put("one");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("x-script: one"));
}

TEST_F(ProcessorLoads, OneThatIsBeingLoadedIsPendingAndThenActive) {
  put("wait");
  const GatewayProcess gateway(spec());
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(condition("False", "ExtensionPending")));
  put("two");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("x-script: two"));
}

TEST_F(ProcessorLoads, OneWhoseContentIsWrongIsAnErrorAndStillRefusesItsRequestsAlone) {
  const GatewayProcess gateway(spec());
  put("wrong");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("HTTP/1.1 500"));
  EXPECT_THAT(get(gateway, "/other"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(condition("False", "InvalidScript")));
}

TEST_F(ProcessorLoads, OneComesIntoServiceEvenWhileTheSourceIsRefused) {
  GatewayProcess gateway(spec());
  gateway.reloadText("{[", "failure");
  put("one");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_THAT(get(gateway, "/guarded"), HasSubstr("x-script: one"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("\"state\":\"Rollback\""));
}

TEST_F(ProcessorLoads, ReplicasOfWhichOneLacksItSayThatTheyServeDifferentThings) {
  const auto served = [](const GatewayProcess& gateway) {
    const std::string status = gateway.adminGet("/status");
    const std::size_t begin = status.find("\"served\":\"");
    return status.substr(begin, status.find(',', begin) - begin);
  };
  const GatewayProcess gateway(spec());
  const std::string without = served(gateway);
  put("one");
  ASSERT_TRUE(isServedAgain(gateway));
  EXPECT_NE(served(gateway), without);
}

}  // namespace
}  // namespace sluice::test
