// Parses a command line as a user types it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/server/cli.h"

namespace sluice::server {

struct ParsedArguments {
  CommandLine line;
  std::string out;
  std::string err;
};

inline ParsedArguments parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "sluice");
  ParsedArguments parsed;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  parsed.line = parseCommandLine(static_cast<int>(arguments.size()), arguments.data());
  parsed.out = testing::internal::GetCapturedStdout();
  parsed.err = testing::internal::GetCapturedStderr();
  return parsed;
}

}  // namespace sluice::server
