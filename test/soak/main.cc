// soak runs clients, faults and reloads at once on one gateway under AddressSanitizer, for a given time. It exits with
// 0 if nothing was wrong.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "test/soak/soak.h"

int main(int argc, char** argv) {
  sluice::soak::SoakOptions options;
  std::uint32_t minutes = 20;
  std::uint32_t seconds = 0;
  CLI::App app(
      "A soak of the gateway in this build: H1, H2, TLS and gRPC clients, aborts, slow peers, broken origins, "
      "reloads and names that move, all at once. Every answer is checked; memory and descriptors must not "
      "grow.");
  CLI::Option* inMinutes = app.add_option("--minutes", minutes, "how long")->capture_default_str();
  app.add_option("--seconds", seconds, "the same, for a short one")->excludes(inMinutes);
  app.add_option("--seed", options.seed, "of the actors' choices")->capture_default_str();
  app.add_option("--only", options.only, "only actors whose name contains this");
  CLI11_PARSE(app, argc, argv);
  options.length = seconds > 0 ? std::chrono::seconds(seconds) : std::chrono::minutes(minutes);
  const bool good = sluice::soak::Soak(options).run() && !testing::UnitTest::GetInstance()->Failed();
  std::printf("\n%s\n", good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
