// Tests that the README's commands and its configuration work as it describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string readme() { return readFile(SLUICE_SOURCE_DIR "/README.md"); }

/// Returns the indented lines below the first heading of a section, without their comments.
std::vector<std::string> commandsOfReadme() {
  std::istringstream lines(readme());
  std::vector<std::string> commands;
  bool inSection = false;
  bool inFence = false;
  for (std::string line; std::getline(lines, line);) {
    inSection = inSection || line.starts_with("## ");
    if (line.starts_with("```")) inFence = !inFence;
    if (!inSection || inFence || !line.starts_with("    ")) continue;
    line = line.substr(4, line.find(" #") - 4);
    commands.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return commands;
}

std::string withText(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Returns the words of a command of the README, with the programs of this build.
std::vector<std::string> wordsOf(const std::string& command) {
  std::istringstream words(withText(command, "build/release/sluice", programPath("sluice")));
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(Readme, HasOnlyCommandsThatTestsRun) {
  EXPECT_THAT(
      commandsOfReadme(),
      ElementsAre("examples/quickstart/run.sh", StartsWith("build/release/sluice validate "),
                  StartsWith("build/release/sluice run --config "), StartsWith("build/release/sluice run --listen "),
                  StartsWith("build/release/sluice manifests "), StartsWith("kubectl apply -k "), "test/run.sh",
                  StartsWith("export OPENAI_BASE_URL="), StartsWith("curl \"$OPENAI_BASE_URL/")));
  // The tests KubernetesReadme.* run those for a cluster.
  const std::string installing = readFile(SLUICE_SOURCE_DIR "/examples/kubernetes/README.md");
  for (const std::size_t each : {4, 5}) EXPECT_THAT(installing, HasSubstr("    " + commandsOfReadme().at(each) + "\n"));
  // The test Quickstart.RunsAndPrintsWhatTheOriginSawInUnder25Lines runs the first. The other script runs this test.
  for (const char* script : {"examples/quickstart/run.sh", "test/run.sh"}) {
    const auto mode = std::filesystem::status(std::string(SLUICE_SOURCE_DIR "/") + script).permissions();
    EXPECT_NE(mode & std::filesystem::perms::owner_exec, std::filesystem::perms::none) << script;
  }
  EXPECT_THAT(readFile(SLUICE_SOURCE_DIR "/.ci/run"), HasSubstr("/test/run.sh"));
}

TEST(Readme, ValidatesAndServesTheQuickstart) {
  const TempDir folder;
  const std::string port = std::to_string(freePort());
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/examples/quickstart")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = readFile(entry.path());
    const bool listens = text.find("port: 10080") != std::string::npos;
    folder.write(entry.path().filename(), listens ? withText(text, "port: 10080", "port: " + port) : text);
  }
  const std::vector<std::string> commands = commandsOfReadme();
  const ProgramOutcome valid = run(wordsOf(withText(commands.at(1), "examples/quickstart", folder.path())));
  EXPECT_EQ(valid.exitCode, 0) << valid.output << valid.errors;
  std::vector<std::string> words = wordsOf(withText(commands.at(2), "examples/quickstart", folder.path()));
  const std::uint16_t health = freePort();
  for (const std::string& word : {std::string("--admin"), "127.0.0.1:" + std::to_string(freePort()),
                                  std::string("--health"), "127.0.0.1:" + std::to_string(health)}) {
    words.push_back(word);
  }
  ChildProcess gateway(words);
  EXPECT_TRUE(waitForPort(static_cast<std::uint16_t>(std::stoul(port)))) << gateway.errors();
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(), 0) << gateway.errors();
}

TEST(Readme, ForwardsWithoutFiles) {
  std::vector<std::string> words = wordsOf(commandsOfReadme().at(3));
  words.emplace_back("--print-config");
  const ProgramOutcome printed = run(words);
  EXPECT_EQ(printed.exitCode, 0) << printed.errors;
  EXPECT_THAT(printed.output, HasSubstr("fqdn: {hostname: \"api.example.com\"}"));
}

TEST(Readme, SendsARequestToAModelProviderWithTheGatewaysKey) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "api.openai.com"));
  const TempDir folder;
  const std::string bundle = folder.write("authority.pem", authority.certificate);
  const std::uint16_t port = freePort();
  const std::string page = readme();
  const std::size_t begin = page.find("```yaml\n") + 8;
  const std::string shown = page.substr(begin, page.find("```", begin) - begin);
  const std::string text =
      withText(shown, "number: 443", "number: " + std::to_string(origin.port())) +
      "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: models-key}\nstringData: {token: sk-1}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\n"
      "spec: {controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: demo, "
      "name: settings}}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: settings}\ndata:\n  settings.yaml: |\n"
      "    dns: {hosts: {api.openai.com: [127.0.0.1]}}\n    addressGuard: {allow: [127.0.0.0/8]}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
      "  gatewayClassName: egress\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n"
      "  listeners: [{name: http, protocol: HTTP, port: " +
      std::to_string(port) + "}]\n";
  ChildProcess gateway(
      {programPath("sluice"), "run", "--config", folder.write("readme.yaml", text), "--health",
       "127.0.0.1:" + std::to_string(freePort()), "--admin", "127.0.0.1:" + std::to_string(freePort())},
      {"SSL_CERT_FILE=" + bundle});
  ASSERT_TRUE(waitForPort(port)) << gateway.errors();
  const std::vector<std::string> commands = commandsOfReadme();
  const std::string script = withText(commands.at(7), "127.0.0.1:10080", "127.0.0.1:" + std::to_string(port)) + "\n" +
                             withText(commands.at(8), "curl ", "curl -sS --max-time 20 ");
  const ProgramOutcome got = run({"bash", "-c", script});
  gateway.signal(SIGTERM);
  EXPECT_EQ(gateway.wait(), 0) << gateway.errors();
  EXPECT_EQ(echoed(got.output, "target"), "/v1/models") << got.output << got.errors;
  EXPECT_EQ(echoed(got.output, "sni"), "api.openai.com");
  EXPECT_THAT(got.output, HasSubstr("authorization: Bearer sk-1"));
}

}  // namespace
}  // namespace sluice::test
