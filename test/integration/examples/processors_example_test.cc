// Tests that examples/processors runs as its README describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/processors.h"

namespace sluice::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* kExampleFolder = SLUICE_SOURCE_DIR "/examples/processors";
constexpr const char* kGuardFolder = SLUICE_SOURCE_DIR "/examples/processors/ext-proc";

TEST(ProcessorsExample, IsAValidConfiguration) {
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", kExampleFolder});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(ProcessorsExample, ShowsInjectedFieldsAndRateLimits) {
  const ProgramOutcome got = run(ExampleCopy("processors", {"10180", "10543", "9911", "9912"}).command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer demo-only-key\""), 3U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"authorization: Bearer of-the-client\""), 0U) << got.output;
  EXPECT_EQ(countOf(got.output, "<- 200"), 10U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: a\""), 2U) << got.output;
  // The 30 seconds run from the first request.
  EXPECT_THAT(got.output, ContainsRegex("<- 429, retry-after: (30|[12][0-9])\n      the gateway says: "
                                        "\"code\":\"rate_limited\""));
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-tenant: b\""), 1U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-backend: small-models\""), 1U) << got.output;
  EXPECT_EQ(countOf(got.output, "the origin saw: \"x-gateway-model-name: large\""), 1U) << got.output;
  EXPECT_THAT(got.output, HasSubstr("the origin saw: \"body_start\": \"{\\\"prompt\\\": \\\"write to , card \\\"}\""));
  for (const std::string most : {"100", "4000"}) {
    EXPECT_THAT(got.output, HasSubstr("<- 200\n      the origin saw: \"body_start\": \"{\\\"prompt\\\": \\\"hello\\\", "
                                      "\\\"max_tokens\\\": " +
                                      most + "}\"\n"));
  }
}

TEST(ExternalProcessorExample, IsAValidConfiguration) {
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", kGuardFolder});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(ExternalProcessorExample, EditsRefusesAndRoutes) {
  const ExampleCopy example("processors/ext-proc", {"10380", "10343", "10303", "10301", "10302"});
  const ProgramOutcome got = run(example.command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(countOf(got.output, "<- 200"), 2U) << got.output;
  EXPECT_THAT(got.output,
              HasSubstr("<- 200\n"
                        "      the origin saw: \"x-guard: checked\"\n"
                        "      the origin saw: \"x-backend: models\"\n"
                        "      the origin saw: \"body_start\": \"{\\\"prompt\\\": \\\"Write to [e-mail]\\\"}\"\n"));
  EXPECT_THAT(got.output, HasSubstr("<- 403\n      the guard says: the prompt has a key in it\n"));
  EXPECT_THAT(got.output,
              HasSubstr("the origin saw: \"x-backend: private-models\"\n"
                        "      the origin saw: \"body_start\": \"{\\\"prompt\\\": \\\"Write to ann@example.test"));
}

}  // namespace
}  // namespace sluice::test
