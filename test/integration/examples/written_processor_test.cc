// Tests the page of the reference about writing an external processor: its server runs, and the parts come in the order
// of its table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string section() {
  return pageSection(referencePage("processor-types.md"), "## How to write an external processor");
}

/// Returns a gateway that sends everything to the processor's server on that port.
GatewaySpec asking(std::uint16_t server, const std::string& mode, std::uint16_t origin) {
  GatewaySpec spec;
  spec.routes =
      routeOfRules("    - filters: [" +
                   inlined("{name: guard, type: 'sluice.dev/ExtProc:v1', timeout: 10s, config: {backendRefs: [" +
                           backendRef("guard") + "], processingMode: " + mode + "}}") +
                   "]\n" + backendRefs());
  spec.backends = {{.port = origin}, {.name = "guard", .hostname = "guard.test", .port = server}};
  return spec;
}

TEST(WrittenProcessor, RunsAsTheReferenceHasIt) {
  const std::string page = section();
  const std::size_t begin = page.find("```python\n");
  ASSERT_NE(begin, std::string::npos);
  std::string program = page.substr(begin + 10, page.find("\n```", begin) + 1 - begin - 10);
  const std::uint16_t port = freePort();
  const std::size_t at = program.find("127.0.0.1:9002");
  ASSERT_NE(at, std::string::npos);
  program.replace(at, 14, "127.0.0.1:" + std::to_string(port));
  const TempDir folder;
  const ProgramOutcome made = run({"protoc", "-I", SLUICE_SOURCE_DIR "/examples/processors/ext-proc",
                                   "--python_out=" + folder.path(), "ext_proc.proto"});
  ASSERT_EQ(made.exitCode, 0) << made.errors;
  ChildProcess server({"/usr/bin/python3", folder.write("server.py", program)});
  constexpr int kRefused = 7;  // curl's code for a port without a listener
  const std::vector<std::string> look = {"curl", "-s", "-o", "/dev/null", "http://127.0.0.1:" + std::to_string(port)};
  ASSERT_TRUE(eventually([&] { return run(look).exitCode != kRefused; })) << server.errors();
  const EchoOrigin origin{std::nullopt};
  const GatewayProcess gateway(asking(port, "{}", origin.port()));
  EXPECT_THAT(ask(gateway, "/", {"-H", "x-guard: of the client"}), HasSubstr("\"x-guard: seen\"")) << server.errors();
}

/// Returns the parts that the server has received, each once if it came in pieces.
std::vector<std::string> partsIn(const std::string& heard) {
  std::vector<std::string> parts;
  std::istringstream words(heard.substr(heard.find("heard ") + 6));
  for (std::string word; words >> word;) {
    std::erase(word, '$');
    const bool isPart = word.starts_with("request_") || word.starts_with("response_");
    if (isPart && (parts.empty() || parts.back() != word)) parts.push_back(word);
  }
  return parts;
}

TEST(WrittenProcessor, GetsThePartsInTheOrderOfTheReference) {
  GrpcOrigin server(std::nullopt, "ext_proc_server.mjs");
  const RecordingOrigin origin(
      [](std::size_t) { return "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nfrom origin\n"; });
  std::size_t count = 0;
  std::unique_ptr<GatewayProcess> gateway;
  for (const PageRow& row : pageTable(section(), "| processingMode | parts, in their order |")) {
    const std::string mode = quotedWords(row[0]).front();
    gateway = std::make_unique<GatewayProcess>(asking(server.port(), mode, origin.port()));
    EXPECT_EQ(statusOf(*gateway, "/", {"--data-binary", "hello"}), "200") << mode;
    ASSERT_TRUE(server.process().waitUntilSaid("heard ", ++count)) << mode;
    const std::string said = server.process().output();
    EXPECT_EQ(partsIn(said.substr(said.rfind("heard "))), quotedWords(row[1])) << mode;
  }
  EXPECT_EQ(count, 8u);
}

}  // namespace
}  // namespace sluice::test
