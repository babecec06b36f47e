// The checked command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/control/explain/explained_request.h"
#include "proxy/net/address.h"
#include "proxy/observe/log.h"

namespace sluice::server {

enum class Command { kRun, kValidate, kCatalog, kExplain };
enum class Output { kText, kJson };

struct Options {
  Command command = Command::kRun;
  std::vector<std::string> config;
  net::Address admin;
  net::Address health;
  std::optional<std::uint32_t> workers;  // takes precedence over settings.yaml
  std::string publishIn;  // kCatalog: the namespace of the objects that publish it; empty for the list alone
  control::RequestInQuestion request = {};  // kExplain
  bool resolve = false;                     // kExplain: ask for the names of Backends
  Output output = Output::kText;            // kExplain
  observe::LogLevel logLevel = observe::LogLevel::kInfo;
};

/// The options, or the exit code with which the process shall end (help and version were printed to stdout, errors to
/// stderr).
struct CommandLine {
  std::optional<Options> options;
  int exitCode = 0;
};

CommandLine parseCommandLine(int argc, const char* const* argv);

}  // namespace sluice::server
