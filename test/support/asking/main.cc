// sluice-asking is the gateway with two more processor types: acme.test/Ask:v1, which calls a server for each request,
// to test callouts of processors against real servers; and acme.test/Script:v1, which needs a file, to test processors
// that load apart.
#include <cstdint>
#include <memory>
#include <string>

#include "filters/types/builtin_types.h"
#include "proxy/routing/backend_target.h"
#include "proxy/server/cli.h"
#include "proxy/server/process.h"
#include "test/support/asking/asking_processor.h"
#include "test/support/asking/script_processor.h"

namespace sluice::test {
namespace {

constexpr std::string_view kSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "port": {"type": "integer", "minimum": 1, "maximum": 65535},
    "path": {"type": "string"},
    "protocol": {"enum": ["http/1.1", "h2", "grpc"]}
  },
  "required": ["port", "path", "protocol"]
})";

processing::Made makeAsking(const processing::Use& use) {
  const std::string& port = use.config.find("port")->text;
  const std::string& protocol = use.config.find("protocol")->text;
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = "test/asked";
  plan->identity = "asked at " + port + " by " + protocol;
  plan->hostname = "127.0.0.1";
  plan->port = static_cast<std::uint16_t>(std::stoul(port));
  plan->authority = "127.0.0.1:" + port;
  plan->protocol = protocol == "http/1.1" ? routing::UpstreamProtocol::kHttp11 : routing::UpstreamProtocol::kHttp2;
  return {std::make_shared<const AskingProcessor>(AskingOptions{std::make_shared<routing::BackendTarget>(plan),
                                                                use.config.find("path")->text, protocol == "grpc"}),
          {}};
}

}  // namespace
}  // namespace sluice::test

int main(int argc, char** argv) {
  const sluice::server::CommandLine line = sluice::server::parseCommandLine(argc, argv);
  if (!line.options) return line.exitCode;
  sluice::processing::BuiltinTypes types = sluice::filters::builtinTypes();
  types.push_back({"acme.test/Ask:v1",
                   {sluice::processing::Phase::kRequestHeaders},
                   false,
                   sluice::test::kSchema,
                   sluice::test::makeAsking});
  types.push_back(sluice::test::scriptType());
  return sluice::server::runProcess(*line.options, types);
}
