// Sends 100,000 requests each over HTTP/1.1 and HTTP/2, to origins of both versions: not one may fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

struct LoadCase {
  const char* name;
  const char* client;  // option of h2load
  const char* origin;  // option of sluice-echo
};

void PrintTo(const LoadCase& load, std::ostream* out) { *out << load.name; }

class Loads : public testing::TestWithParam<LoadCase> {};

INSTANTIATE_TEST_SUITE_P(Pairs, Loads,
                         testing::Values(LoadCase{"H1ToH1", "--h1", "--h1-only"},
                                         LoadCase{"H1ToH2", "--h1", "--h2-only"},
                                         LoadCase{"H2ToH1", "-m10", "--h1-only"},
                                         LoadCase{"H2ToH2", "-m10", "--h2-only"}),
                         [](const auto& given) { return std::string(given.param.name); });

TEST_P(Loads, FailNoneOfAHundredThousandRequests) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"), {GetParam().origin}, true);
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .ca = authority.certificate}}, .workers = 2, .release = true});
  const ProgramOutcome got = run({"h2load", "-n100000", "-c50", "-t1", GetParam().client, gateway.url("/bytes/1000")},
                                 std::chrono::seconds(240));
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  EXPECT_THAT(got.output, HasSubstr("100000 succeeded, 0 failed, 0 errored, 0 timeout"));
  EXPECT_THAT(got.output, HasSubstr("100000 2xx, 0 3xx, 0 4xx, 0 5xx"));
}

}  // namespace
}  // namespace sluice::test
