// Well-behaved third-party clients: h2load, nghttp, curl, undici and @grpc/grpc-js.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/soak/actor.h"
#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;
using test::ProgramOutcome;

constexpr const char* kScripts = SLUICE_SOURCE_DIR "/test/integration/clients/";
/// duration of one run of a script
constexpr std::chrono::seconds kScript(20);

std::string secureUrl(Scene& scene, const std::string& target) {
  return "https://localhost:" + std::to_string(scene.testbed.gateway().tlsPort()) + target;
}

void h2load(Scene& scene) {
  constexpr int kRequests = 200;
  const std::string number = std::to_string(kRequests);
  std::vector<std::string> argv = {"h2load", "-n" + number, "-c4", "-m10"};
  const bool h1 = scene.oneIn(3);
  if (h1) argv.emplace_back("--h1");
  const bool upload = scene.oneIn(3);
  if (upload) argv.insert(argv.end(), {"-d", scene.testbed.authoritiesFile()});
  const std::string target = upload ? "/echo" : "/bytes/5000";
  argv.push_back(scene.oneIn(2) ? secureUrl(scene, target) : scene.testbed.gateway().url(target));
  const ProgramOutcome got = test::run(argv, 120s);
  const bool all = contains(got.output, number + " succeeded, 0 failed, 0 errored, 0 timeout") &&
                   contains(got.output, number + " 2xx, 0 3xx, 0 4xx, 0 5xx");
  scene.ledger.expect(got.exitCode == 0 && all, argv.back() + (h1 ? " h1" : " h2") + ": exit code " +
                                                    std::to_string(got.exitCode) + "\n" + got.output + got.errors);
}

void nghttp(Scene& scene) {
  const std::size_t size = 300'000;
  const ProgramOutcome got = test::run({"nghttp", scene.testbed.gateway().url("/bytes/" + std::to_string(size))}, 60s);
  scene.ledger.expect(
      got.exitCode == 0 && got.output == scene.testbed.pattern(size),
      "exit code " + std::to_string(got.exitCode) + ", " + std::to_string(got.output.size()) + " bytes\n" + got.errors);
}

void curl(Scene& scene) {
  std::vector<std::string> argv = {
      "curl", "-sS", "--max-time", "60", "--cacert", scene.testbed.authoritiesFile(), "-w", "%{http_code}"};
  const bool secure = scene.oneIn(2);
  argv.emplace_back(scene.oneIn(2) ? "--http1.1" : secure ? "--http2" : "--http2-prior-knowledge");
  const bool upload = scene.oneIn(2);
  if (upload) argv.insert(argv.end(), {"-H", "Expect:", "--data-binary", "@" + scene.testbed.largeFile()});
  const std::string target = upload ? "/echo" : scene.oneIn(2) ? "/files/large" : "/bytes/1000000";
  argv.push_back(secure ? secureUrl(scene, target) : scene.testbed.gateway().url(target));
  const ProgramOutcome got = test::run(argv, 90s);
  scene.ledger.expect(got.exitCode == 0 && got.output == scene.testbed.pattern(Testbed::kLargeFile) + "200",
                      argv.back() + " " + argv[8] + ": exit code " + std::to_string(got.exitCode) + ", " +
                          std::to_string(got.output.size()) + " bytes\n" + got.errors);
}

void script(Scene& scene, std::vector<std::string> argv) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(scene.course.left());
  argv.push_back(std::to_string(std::min(kScript, left).count()));
  argv.insert(argv.begin(), "node");
  const ProgramOutcome got = test::run(argv, kScript + 120s);
  scene.ledger.expect(got.exitCode == 0, "exit code " + std::to_string(got.exitCode) + "\n" + got.output + got.errors);
}

void undici(Scene& scene) {
  script(scene, {std::string(kScripts) + "undici.mjs", scene.testbed.gateway().url(""), secureUrl(scene, ""),
                 scene.testbed.authoritiesFile()});
}

void grpc(Scene& scene) {
  script(scene, {std::string(kScripts) + "grpc.mjs", "127.0.0.1:" + std::to_string(scene.testbed.gateway().port())});
}

}  // namespace

std::vector<Actor> peerClients() {
  return {{"h2load", 1s, h2load},
          {"nghttp", 1s, nghttp},
          {"curl", 700ms, curl},
          {"undici", 3s, undici},
          {"grpc-js", 1s, grpc}};
}

}  // namespace sluice::soak
