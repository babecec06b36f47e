// Looks for ways out with `sluice check egress`: over loopback, and in networks of the test's own that are closed, or
// not quite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/canary.h"
#include "test/integration/support/full_listener.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string at(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

ProgramOutcome checkEgress(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"check", "egress"});
  return sluice(std::move(arguments));
}

TEST(CheckEgress, IsOpenWhereSomebodyListens) {
  const std::uint16_t port = freePort();
  const Canary origin("127.0.0.1", port);
  ASSERT_TRUE(origin.ok());
  const ProgramOutcome outcome = checkEgress({"--namespace", "team-a", "--timeout", "30s", "--target", at(port)});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("   open            connected after "),
                    HasSubstr("direct egress from the namespace team-a is open: 1 of 1 tries got out\n"),
                    HasSubstr("kubectl apply -n team-a -k config/kustomize/enforced-egress\n")));
  EXPECT_EQ(outcome.errors, "");
}

TEST(CheckEgress, IsOpenWhereTheAddressRefuses) {
  const ProgramOutcome outcome = checkEgress({"--timeout", "30s", "--target", at(freePort())});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("   open            refused by the address itself\n"));
  EXPECT_THAT(outcome.output, HasSubstr("direct egress from here is open"));
}

TEST(CheckEgress, IsClosedWhereNobodyAnswers) {
  const FullListener silent;
  const ProgramOutcome outcome = checkEgress({"--timeout", "50ms", "--target", at(silent.port())});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.output, HasSubstr("   closed          no answer within 50ms\n"));
  EXPECT_THAT(outcome.output, HasSubstr("direct egress from here is closed\n"));
}

TEST(CheckEgress, NeedsTheGatewayThatItIsGiven) {
  const FullListener silent;
  const std::string gateway = at(freePort());
  const ProgramOutcome outcome =
      checkEgress({"--timeout", "50ms", "--target", at(silent.port()), "--gateway", gateway});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("direct egress from here is closed\n"),
                                    HasSubstr("the gateway " + gateway + " is not reachable\n")));
}

TEST(CheckEgress, PrintsTheSameForPrograms) {
  const FullListener silent;
  const ProgramOutcome json = checkEgress({"--timeout", "50ms", "--target", at(silent.port()), "-o", "json"});
  EXPECT_EQ(json.exitCode, 0);
  EXPECT_THAT(json.output,
              testing::StartsWith(R"({"verdict":"closed","addresses":[{"target":")" + at(silent.port()) +
                                  R"(","protocol":"TCP","address":")" + at(silent.port()) +
                                  R"(","verdict":"closed","reason":"NoAnswer","message":"no answer within 50ms",)"));
  const ProgramOutcome yaml = checkEgress({"--timeout", "50ms", "--target", at(silent.port()), "-o", "yaml"});
  EXPECT_THAT(yaml.output, testing::StartsWith("verdict: \"closed\"\naddresses:\n"));
}

TEST(CheckEgress, EndsWithTwoForAMistake) {
  const ProgramOutcome outcome = checkEgress({"--target", "example.com"});
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("is not HOST:PORT or udp://HOST:PORT"));
}

/// A network of its own for each command, without any way out but those that a test adds.
class ClosedNetwork : public testing::Test {
 protected:
  void SetUp() override {
    if (run({kScript, "", "true"}).exitCode == 77) GTEST_SKIP() << "this machine allows no network namespaces";
  }
  static ProgramOutcome check(const std::string& setup, const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {kScript, setup, programPath("sluice"), "check", "egress"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
  }

 private:
  inline static const std::string kScript = SLUICE_SOURCE_DIR "/test/integration/commands/closed_network.sh";
};

TEST_F(ClosedNetwork, ReachesNoDefaultTarget) {
  const ProgramOutcome outcome = check("", {"--timeout", "100ms"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("1.1.1.1:443                  closed          no answer within 100ms\n"),
                                    HasSubstr("closed          no way there: Network is unreachable\n"),
                                    HasSubstr("unclear         not resolved: example.com: no name server answers\n"),
                                    Not(HasSubstr("   open "))));
}

TEST_F(ClosedNetwork, IsClosedIfTheControlIsRefusedToo) {
  const ProgramOutcome outcome = check("ip addr add 1.1.1.1/32 dev lo; ip addr add 192.0.2.1/32 dev lo",
                                       {"--timeout", "30s", "--target", "1.1.1.1:443"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.output, HasSubstr("   closed          refused, as 192.0.2.1 was, where nobody is\n"));
}

TEST_F(ClosedNetwork, IsOpenIfTheTargetAloneRefuses) {
  const ProgramOutcome outcome = check("ip addr add 1.1.1.1/32 dev lo; ip route add unreachable 192.0.2.1",
                                       {"--timeout", "30s", "--target", "1.1.1.1:443"});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.output, HasSubstr("   open            refused by the address itself\n"));
}

// The router sends ICMP messages, as a policy does that rejects packets.
TEST_F(ClosedNetwork, IsClosedIfARouterOnTheWayRefuses) {
  const ProgramOutcome outcome =
      check("add_router; router ip route add prohibit 1.1.1.1; router ip route add prohibit 192.0.2.1",
            {"--timeout", "30s", "--target", "1.1.1.1:443"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("   closed          refused by 10.9.0.1 on the way: No route to host\n"));
}

// The listener plays a sidecar, which accepts connections to all addresses.
TEST_F(ClosedNetwork, IsUnclearIfEveryConnectionSucceeds) {
  const ProgramOutcome outcome = check("ip addr add 1.1.1.1/32 dev lo; ip addr add 192.0.2.1/32 dev lo; listen 443",
                                       {"--timeout", "30s", "--target", "1.1.1.1:443"});
  EXPECT_EQ(outcome.exitCode, 1) << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("   unclear         connected after "),
                                    HasSubstr(", as 192.0.2.1 did, where nobody is\n"),
                                    HasSubstr("Run the check from a Pod of NAMESPACE without it.\n")));
}

TEST_F(ClosedNetwork, IsClosedIfOnlyTheGatewayIsReachable) {
  const ProgramOutcome outcome =
      check("ip route add unreachable 1.1.1.1; ip route add unreachable 192.0.2.1; listen 10080",
            {"--timeout", "30s", "--target", "1.1.1.1:443", "--gateway", "localhost:10080"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.output << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("   closed          no way there: No route to host\n"),
                                    HasSubstr("direct egress from here is closed\n"),
                                    testing::EndsWith("the gateway localhost:10080 is reachable\n")));
}

}  // namespace
}  // namespace sluice::test
