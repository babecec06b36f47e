// Tests that input from clients is only data in the logs: every line is one JSON object of bounded length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kForged = "{\"time\":\"forged\"}";

/// Returns the objections of Node.js' JSON parser to the lines of a log; empty if it has none.
std::string faultsOf(const std::string& log) {
  const TempDir folder;
  const std::string path = folder.write("log", log);
  const ProgramOutcome outcome = run({"node", "-e",
                                      "const lines = require('fs').readFileSync(process.argv[1], 'utf8').split('\\n');"
                                      "for (const line of lines.slice(0, -1)) { try {"
                                      "  const object = JSON.parse(line);"
                                      "  if (!object.time || object.time === 'forged') console.log('forged: ' + line);"
                                      "  if (/[\\x00-\\x1f\\x7f-\\x9f]/.test(line)) console.log('control: ' + line);"
                                      "  if (line.includes('\\ufffd')) console.log('not UTF-8: ' + line);"
                                      "} catch (error) { console.log(error + ': ' + line); } }",
                                      path});
  return outcome.output + outcome.errors;
}

/// Returns a GET with `value` in the field `name`.
H2Lines getWith(const std::string& name, const std::string& value) {
  H2Lines lines = h2::get();
  for (auto& [known, its] : lines) {
    if (known == name) its = value;
  }
  if (!name.starts_with(":")) lines.emplace_back(name, value);
  return lines;
}

class LogInjection : public testing::Test {
 protected:
  static constexpr std::size_t kLongestLine = std::size_t{10} * 1024;

  static void expectClean(const std::string& log) {
    EXPECT_THAT(faultsOf(log), IsEmpty());
    std::size_t begin = 0;
    for (std::size_t end = log.find('\n'); end != std::string::npos; end = log.find('\n', begin = end + 1)) {
      EXPECT_LE(end - begin, kLongestLine);
    }
  }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")};
  GatewayProcess gateway_{{.backends = {{.port = origin_.port()}},
                           .tls = issueServer(makeAuthority(), "listener.test"),
                           .options = {"--log-level", "trace"}}};
};

TEST_F(LogInjection, FailsOverHttp11) {
  std::vector<std::string> requests;
  for (const std::string& piece :
       {std::string("\n") + kForged + "\n", std::string("\r\n") + kForged, std::string("\x1b[2J\x1b]0;x\x07"),
        std::string("\"},") + kForged, std::string("\\\"\\u0022"), std::string("\xff\xfe\xc0\x80\xed\xa0\x80"),
        std::string("\0x\0", 3), std::string("\xe2\x80\xa8\xc2\x85"), std::string("%0a%1b%22%00"),
        std::string(12'000, '"'), std::string(12'000, '\x80')}) {
    requests.push_back("GET /" + piece + " HTTP/1.1\r\nHost: a\r\n\r\n");
    requests.push_back("GET / HTTP/1.1\r\nHost: " + piece + "\r\n\r\n");
    requests.push_back("GET /?" + piece + " HTTP/1.1\r\nHost: a\r\n\r\n");
    requests.push_back(piece + " / HTTP/1.1\r\nHost: a\r\n\r\n");
    requests.push_back("GET / HTTP/" + piece + "\r\nHost: a\r\n\r\n");
    requests.push_back("GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: " + piece + "\r\n" + piece + ": b\r\n\r\n");
  }
  for (const std::string& request : requests) {
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    client.send(request);
    readResponse(client);
  }
  const auto lines = gateway_.accessLog(requests.size());
  EXPECT_GE(lines.size(), requests.size()) << "a line each";
  expectClean(gateway_.process().output());
  expectClean(gateway_.process().errors());
}

TEST_F(LogInjection, FailsOverHttp2) {
  for (const std::string& piece : {std::string("/\"},") + kForged, std::string("/\n") + kForged + "\n",
                                   std::string("/\xff\x1b"), "/" + std::string(12'000, '"')}) {
    for (const char* name : {":path", ":authority", ":method", "user-agent"}) {
      H2Client client(gateway_.port());
      client.send(h2::headers(1, getWith(name, piece), true));
      EXPECT_TRUE(client.readUntil([&] { return client.isSettled(1); }) || client.closed());
    }
  }
  H2Client last(gateway_.port());
  last.send(h2::headers(1, h2::get("/last"), true));
  EXPECT_TRUE(last.readStream(1));
  EXPECT_TRUE(gateway_.process().waitForLine("\"/last\""));
  expectClean(gateway_.process().output());
  expectClean(gateway_.process().errors());
}

TEST_F(LogInjection, FailsOverTls) {
  const std::string port = std::to_string(gateway_.tlsPort());
  for (const std::string& name : {std::string("a\"},") + kForged, std::string("a\n") + kForged + "\n",
                                  std::string("\xff\xfe\x1b[2J"), std::string(250, '"')}) {
    run({"sh", "-c",
         "printf 'GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -quiet "
         "-connect 127.0.0.1:\"$1\" -servername \"$2\"",
         "sh", port, name});
  }
  EXPECT_GE(gateway_.accessLog(1).size(), 1u);
  expectClean(gateway_.process().output());
  expectClean(gateway_.process().errors());
}

}  // namespace
}  // namespace sluice::test
