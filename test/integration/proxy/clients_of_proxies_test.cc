// Tests real clients of a forward proxy, each as it is delivered: command-line tools, and libraries of Python and
// Node.js. A client that took another way than the proxy would not find the origin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/proxy/client_stage.h"
#include "test/integration/support/node/node.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

using Command = std::vector<std::string>;

struct ProxyClient {
  const char* name;
  /// Starts the origin that the client needs, and returns the client's command. It ends with 0 if all went well.
  Command (*command)(ClientStage& stage);
  /// In the access log.
  std::vector<const char*> ways;
};

/// Runs curl until the origin has described the request of each URL.
Command curl(const ClientStage& stage, Command more) {
  Command argv = {"curl", "-sS", "--fail-with-body", "--max-time", "20", "--cacert", stage.authorities()};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

/// Runs a script that is told of the proxy by its first argument.
Command node(ClientStage& stage, const std::string& script, const Command& arguments) {
  Command argv = {"node", kClients + script};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return stage.inEnvironment(argv);
}

/// A program of Python, with the packages of Debian.
Command python(ClientStage& stage, const std::string& script) {
  return stage.inEnvironment({"/usr/bin/python3", kClients + script, stage.plain(), stage.secure()});
}

const ProxyClient kCommandLineTools[] = {
    {"CurlInAbsoluteForm",
     [](ClientStage& it) {
       return curl(it, {"-x", it.proxy(), it.plain()});
     },
     {"absolute"}},
    {"CurlByTunnel",
     [](ClientStage& it) {
       return curl(it, {"-x", it.proxy(), it.secure()});
     },
     {"connect"}},
    {"CurlByTunnelToPlaintext",
     [](ClientStage& it) {
       return curl(it, {"-x", it.proxy(), "--proxytunnel", it.plain()});
     },
     {"connect"}},
    {"CurlOverHttp1InATunnel",
     [](ClientStage& it) {
       return curl(it, {"-x", it.proxy(), "--http1.1", it.secure(), it.secure()});
     },
     {"connect"}},
    {"CurlByAProxyWithTls",
     [](ClientStage& it) {
       return curl(it, {"-x", it.tlsProxy(), "--proxy-cacert", it.authorities(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"CurlByItsEnvironment",
     [](ClientStage& it) {
       return it.inEnvironment({"curl", "-sS", "--fail-with-body", it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Wget",
     [](ClientStage& it) {
       return it.inEnvironment({"wget", "-nv", "-O-", "--tries=1", "--timeout=20",
                                "--ca-certificate=" + it.authorities(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
};

const ProxyClient kLibraries[] = {
    {"Urllib", [](ClientStage& it) { return python(it, "proxied_urllib.py"); }, {"absolute", "connect"}},
    {"Requests", [](ClientStage& it) { return python(it, "proxied_requests.py"); }, {"absolute", "connect"}},
    {"Undici",
     [](ClientStage& it) {
       return node(it, "proxied_undici.mjs", {it.proxy(), it.plain(), it.secure()});
     },
     {"connect"}},
    {"UndiciByAProxyWithTls",
     [](ClientStage& it) {
       return node(it, "proxied_undici.mjs", {it.tlsProxy(), it.plain(), it.secure()});
     },
     {"connect"}},
    {"Axios",
     [](ClientStage& it) {
       return node(it, "proxied_axios.mjs", {it.proxy(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"AxiosWithoutTunnels",
     [](ClientStage& it) {
       return node(it, "proxied_axios_absolute.mjs", {it.proxy(), it.plain(), it.secure()});
     },
     {"absolute"}},
    {"Got",
     [](ClientStage& it) {
       return node(it, "proxied_got.mjs", {it.proxy(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"GotByAProxyWithTls",
     [](ClientStage& it) {
       return node(it, "proxied_got.mjs", {it.tlsProxy(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Http2",
     [](ClientStage& it) {
       return node(it, "proxied_http2.mjs", {it.proxy(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Http2OverTls",
     [](ClientStage& it) {
       return node(it, "proxied_http2.mjs", {it.tlsProxy(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
};

const ProxyClient kOtherProtocols[] = {
    {"WebSocket",
     [](ClientStage& it) {
       return node(it, "websocket.mjs", {"ws://" + it.start("websocket_origin.mjs", false), "", it.proxy()});
     },
     {"connect"}},
    {"WebSocketOverTls",
     [](ClientStage& it) {
       return node(it, "websocket.mjs",
                   {"wss://" + it.start("websocket_origin.mjs", true), it.authorities(), it.proxy()});
     },
     {"connect"}},
    {"WebSocketOverHttp2",
     [](ClientStage& it) {
       return node(it, "websocket_h2.mjs", {it.proxy(), "", it.start("websocket_origin.mjs", false)});
     },
     {"absolute"}},
    {"WebSocketOverHttp2AndAProxyWithTls",
     [](ClientStage& it) {
       return node(it, "websocket_h2.mjs", {it.tlsProxy(), it.authorities(), it.start("websocket_origin.mjs", false)});
     },
     {"absolute"}},
    {"Grpc", [](ClientStage& it) { return node(it, "grpc.mjs", {it.start("grpc_origin.mjs", false)}); }, {"connect"}},
    {"GrpcOverTls",
     [](ClientStage& it) {
       return node(it, "grpc.mjs", {it.start("grpc_origin.mjs", true), "0", it.authorities()});
     },
     {"connect"}},
    {"OpenAi",
     [](ClientStage& it) {
       return node(it, "proxied_openai.mjs", {it.proxy(), "https://" + it.start("model_provider.mjs", true) + "/v1"});
     },
     {"connect"}},
};

const ProxyClient kWithPasswords[] = {
    {"Curl",
     [](ClientStage& it) {
       return curl(it, {"-x", it.members(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Wget",
     [](ClientStage& it) {
       return it.inEnvironmentOf(it.members(), {"wget", "-nv", "-O-", "--tries=1", "--timeout=20",
                                                "--ca-certificate=" + it.authorities(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Requests",
     [](ClientStage& it) {
       return it.inEnvironmentOf(
           it.members(), {"/usr/bin/python3", std::string(kClients) + "proxied_requests.py", it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Undici",
     [](ClientStage& it) {
       return node(it, "proxied_undici.mjs", {it.members(), it.plain(), it.secure()});
     },
     {"connect"}},
    {"Got",
     [](ClientStage& it) {
       return node(it, "proxied_got.mjs", {it.members(), it.plain(), it.secure()});
     },
     {"absolute", "connect"}},
    {"Grpc",
     [](ClientStage& it) {
       return it.inEnvironmentOf(it.members(), {"node", std::string(kClients) + "grpc.mjs",
                                                it.start("grpc_origin.mjs", true), "0", it.authorities()});
     },
     {"connect"}},
};

class ProxyClients : public testing::TestWithParam<ProxyClient> {};

TEST_P(ProxyClients, ReachTheirOriginsUnchanged) {
  ClientStage stage;
  const ProgramOutcome got = run(GetParam().command(stage));
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  ChildProcess& gateway = stage.gateway().process();
  for (const char* way : GetParam().ways) {
    EXPECT_TRUE(gateway.waitForLine("\"way\":\"" + std::string(way) + "\"")) << way;
  }
  EXPECT_TRUE(stage.gateway().reaches(decisionsOf("origins", "all", "allowed"), 1));
  EXPECT_EQ(stage.gateway().metric(decisionsOf("origins", "default", "denied")), 0);
}

std::string nameOfClient(const testing::TestParamInfo<ProxyClient>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tool, ProxyClients, testing::ValuesIn(kCommandLineTools), nameOfClient);
INSTANTIATE_TEST_SUITE_P(Library, ProxyClients, testing::ValuesIn(kLibraries), nameOfClient);
INSTANTIATE_TEST_SUITE_P(Password, ProxyClients, testing::ValuesIn(kWithPasswords), nameOfClient);
INSTANTIATE_TEST_SUITE_P(Protocol, ProxyClients, testing::ValuesIn(kOtherProtocols), nameOfClient);

// --- what users see of a refusal

TEST(ProxyClientErrors, TellWhatThePolicyDenies) {
  ClientStage stage;
  const auto errorsOf = [&stage](const Command& command) {
    const ProgramOutcome got = run(stage.inEnvironment(command));
    EXPECT_NE(got.exitCode, 0) << command.front();
    return got.output + got.errors;
  };
  EXPECT_THAT(errorsOf({"curl", "-sS", "https://other.test/"}), HasSubstr("403"));
  EXPECT_THAT(errorsOf({"curl", "-sS", "--fail-with-body", "http://other.test/"}), HasSubstr("http_request_denied"));
  EXPECT_THAT(errorsOf({"wget", "-nv", "-O-", "--tries=1", "https://other.test/"}), HasSubstr("Forbidden"));
  EXPECT_THAT(errorsOf({"/usr/bin/python3", std::string(kClients) + "proxied_requests.py", "https://other.test"}),
              HasSubstr("403"));
  EXPECT_TRUE(stage.gateway().reaches(decisionsOf("origins", "default", "denied"), 4));
}

}  // namespace
}  // namespace sluice::test
