// `sluice validate`: the same reading and compiling as `sluice run`, with the result printed instead of served.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/processing/factory.h"

namespace sluice::server {

enum class ValidationFormat : std::uint8_t { kText, kJson, kYaml, kGithub };

struct ValidationOptions {
  bool live = false;       // try its addresses and ports too
  bool recursive = false;  // each folder with files is a configuration by itself
  bool quiet = false;      // print problems alone
  ValidationFormat format = ValidationFormat::kText;
};

/// Prints every problem and every object with its conditions to stdout. Returns 0 if all of it can be served as
/// written, else 1.
int validateConfiguration(const std::vector<std::string>& paths, const ValidationOptions& options,
                          const processing::BuiltinTypes& processors);

}  // namespace sluice::server
