// Tests that each example runs as its README describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/examples/example_copy.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr const char* kQuickstart = SLUICE_SOURCE_DIR "/examples/quickstart";
constexpr const char* kBackends = SLUICE_SOURCE_DIR "/examples/backends";
constexpr const char* kServices = SLUICE_SOURCE_DIR "/examples/services";
constexpr const char* kGrpc = SLUICE_SOURCE_DIR "/examples/grpc";

std::vector<std::string> samplesOf(const char* folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string replaceAll(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(Quickstart, IsAValidConfiguration) {
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", kQuickstart});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(RollbackExample, GoesFromGoodToBadAndBack) {
  const ProgramOutcome got = run(ExampleCopy("rollback", {"10280", "10243", "10201", "10202"}).command());
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  std::string states;
  std::istringstream lines(got.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t since = line.find(" since ");
    if (since != std::string::npos) states += line.substr(6, since - 6) + " ";
    if (line.find("a request: ") != std::string::npos) states += line.substr(line.rfind(' ') + 1) + ", ";
  }
  EXPECT_EQ(states, "InSync 200, Rollback 200, Rollback 200, InSync 200, ") << got.output;
  EXPECT_THAT(got.output, HasSubstr("wrokers: unknown field: did you mean workers?"));
}

TEST(Quickstart, AMisspeltFieldIsNamedByFileLineAndField) {
  const TempDir folder;
  for (const auto& entry : std::filesystem::directory_iterator(kQuickstart)) {
    if (entry.path().extension() == ".yaml") std::filesystem::copy(entry.path(), folder.path());
  }
  const std::string path = folder.path() + "/backend.yaml";
  std::string text = readFile(path);
  const std::size_t at = text.find("hostname:");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 9, "hostnaem:");
  folder.write("backend.yaml", text);
  const auto lineNumber = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", folder.path()});
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_THAT(got.output + got.errors, HasSubstr("backend.yaml:" + std::to_string(lineNumber)));
  EXPECT_THAT(got.output + got.errors, HasSubstr("hostnaem"));
}

/// Returns true if a build of the optimised programs has nothing to do.
bool releaseIsUpToDate() {
  const ProgramOutcome got = run({"ninja", "-C", SLUICE_SOURCE_DIR "/build/release", "-n", "sluice", "sluice-echo"});
  return got.exitCode == 0 && got.output.find("no work to do") != std::string::npos;
}

TEST(Quickstart, RunsAndPrintsWhatTheOriginSawInUnder25Lines) {
  // The script builds what is not up to date, which may take minutes; it serves with the programs of this build.
  std::vector<std::string> command = {"bash", std::string(kQuickstart) + "/run.sh"};
  if (!releaseIsUpToDate()) command.insert(command.begin(), {"env", "SLUICE_PROGRAMS=" SLUICE_PROGRAMS});
  const ProgramOutcome got = run(command);
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_LT(std::count(got.output.begin(), got.output.end(), '\n'), 25);
  EXPECT_THAT(got.output, HasSubstr("<- 200, HTTP/1.1"));
  EXPECT_THAT(got.output, HasSubstr("<- 200, HTTP/2"));
  EXPECT_THAT(got.output, HasSubstr("\"sni\": \"origin.example.test\""));
}

TEST(ServiceSample, IsValid) {
  const ProgramOutcome got = run({programPath("sluice"), "validate", "--config", kServices});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(ServiceSample, LeadsToTheReadyEndpoint) {
  EchoOrigin origin(std::nullopt);
  const TempDir folder;
  const std::uint16_t port = freePort();
  std::string text = replaceAll(readFile(std::string(kServices) + "/service.yaml"), "10.20.0.7", "127.0.0.1");
  text = replaceAll(text, "port: 8080", "port: " + std::to_string(origin.port()));
  text = replaceAll(text, "port: 10080", "port: " + std::to_string(port));
  text = replaceAll(text, "{controllerName: sluice.dev/egress-gateway}",
                    "{controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, "
                    "namespace: demo, name: test}}");
  text +=
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: test}\ndata:\n  settings.yaml: |\n"
      "    addressGuard: {allow: [127.0.0.0/8]}\n";
  ChildProcess gateway({programPath("sluice"), "run", "--config", folder.write("sample.yaml", text), "--health",
                        "127.0.0.1:" + std::to_string(freePort()), "--admin",
                        "127.0.0.1:" + std::to_string(freePort())});
  ASSERT_TRUE(waitForPort(port)) << gateway.errors();
  const ProgramOutcome got =
      run({"curl", "-sS", "-i", "--max-time", "20", "http://127.0.0.1:" + std::to_string(port) + "/models"});
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(), 0) << gateway.errors();
  EXPECT_THAT(got.output, HasSubstr("HTTP/1.1 200 OK")) << got.errors;
}

TEST(BackendSamples, CoverEverySpelling) {
  std::string all;
  for (const std::string& path : samplesOf(kBackends)) all += readFile(path);
  for (const char* apiVersion :
       {"gateway.networking.k8s.io/v1alpha1\nkind: Backend\n", "sluice.dev/v1alpha1\nkind: Backend\n",
        "ainetworking.prototype.x-k8s.io/v0alpha0\nkind: Backend\n",
        "ainetworking.prototype.x-k8s.io/v0alpha0\nkind: XBackendDestination\n",
        "gateway.envoyproxy.io/v1alpha1\nkind: Backend\n", "gateway.networking.x-k8s.io/v1alpha1\nkind: XBackend\n"}) {
    EXPECT_THAT(all, HasSubstr(apiVersion));
  }
}

TEST(Examples, AreValidTogetherAndEachFolderByItself) {
  const std::string examples = std::filesystem::path(kBackends).parent_path();
  const ProgramOutcome all = run({programPath("sluice"), "validate", examples});
  EXPECT_EQ(all.exitCode, 0) << all.output << all.errors;
  for (const auto& entry : std::filesystem::directory_iterator(examples)) {
    if (!entry.is_directory()) continue;
    const ProgramOutcome got = run({programPath("sluice"), "validate", entry.path()});
    EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
    EXPECT_THAT(all.output, HasSubstr("==> " + entry.path().string() + "\n"));
  }
}

/// Runs a sample on ports of the test's own, with api.example.com and models.example.com on this machine and
/// `authority` in the place of the system's, and returns the answer to curl's request for `target`.
std::string answerThrough(const std::string& sample, std::uint16_t originPort, const std::string& authority,
                          const std::string& target = "/models", const std::vector<std::string>& options = {}) {
  const TempDir folder;
  const std::string bundle = folder.write("authority.pem", authority);
  const std::uint16_t port = freePort();
  const std::string health = "127.0.0.1:" + std::to_string(freePort());
  std::string text = replaceAll(sample, "443", std::to_string(originPort));
  const bool egress = text.find("port: 10081") != std::string::npos;
  text = replaceAll(text, "port: 10080", "port: " + std::to_string(egress ? freePort() : port));
  text = replaceAll(text, "port: 10081", "port: " + std::to_string(port));
  text =
      replaceAll(text, "{controllerName: sluice.dev/egress-gateway}",
                 "{controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: "
                 "demo, name: test}}");
  text +=
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: test}\ndata:\n  settings.yaml: |\n"
      "    dns: {hosts: {api.example.com: [127.0.0.1], models.example.com: [127.0.0.1]}}\n    addressGuard: {allow: "
      "[127.0.0.0/8]}\n";
  const std::string config = folder.write("sample.yaml", text);
  ChildProcess gateway({programPath("sluice"), "run", "--config", config, "--health", health, "--admin",
                        "127.0.0.1:" + std::to_string(freePort())},
                       {"SSL_CERT_FILE=" + bundle});
  EXPECT_TRUE(waitForPort(port)) << gateway.errors();
  std::vector<std::string> curl = {"curl",       "-sS", "-i",
                                   "--max-time", "20",  "http://127.0.0.1:" + std::to_string(port) + target};
  curl.insert(curl.end(), options.begin(), options.end());
  const ProgramOutcome got = run(curl);
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(), 0) << gateway.errors();
  return got.output + got.errors;
}

TEST(BackendSamples, EachReachTheirOrigin) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "api.example.com"));
  for (const std::string& path : samplesOf(kBackends)) {
    const std::string name = std::filesystem::path(path).stem();
    if (name == "gateway") continue;
    const std::string sample = readFile(std::string(kBackends) + "/gateway.yaml") + "---\n" + readFile(path);
    const std::string answer =
        answerThrough(sample, origin.port(), authority.certificate, "/models", {"-H", "Host: " + name + ".test"});
    EXPECT_THAT(answer, HasSubstr(" 200 ")) << path;
    EXPECT_EQ(echoed(answer, "sni"), "api.example.com") << path;
    EXPECT_EQ(echoed(answer, "target"), name == "sluice" ? "/v1/models" : "/models") << path;
  }
}

TEST(GrpcSample, IsValidAndPassesTheCallsThatItNames) {
  const ProgramOutcome valid = run({programPath("sluice"), "validate", "--config", kGrpc});
  EXPECT_EQ(valid.exitCode, 0) << valid.output << valid.errors;
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "models.example.com"));
  const auto call = [&](const std::string& method) {
    return answerThrough(readFile(std::string(kGrpc) + "/gateway.yaml"), origin.port(), authority.certificate, method,
                         {"--http2-prior-knowledge", "-X", "POST", "-H", "content-type: application/grpc"});
  };
  EXPECT_THAT(call("/demo.Models/Predict"), HasSubstr("grpc-status: 0"));
  EXPECT_THAT(call("/demo.Models/List"), HasSubstr("grpc-status: 0"));
  EXPECT_THAT(call("/demo.Other/List"), HasSubstr("grpc-status: 12"));
}

}  // namespace
}  // namespace sluice::test
