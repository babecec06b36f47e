// How commands print: as a text for people, or as JSON or YAML for programs.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/error.h"
#include "proxy/content/output/output.h"

namespace sluice::server {

enum class OutputFormat : std::uint8_t { kText, kJson, kYaml };

/// Prints the output to standard output in that format.
void print(const content::Output& output, OutputFormat format);

/// Prints the text to standard output, all of it.
void print(std::string_view text);

/// Prints the error to standard error, as a line, and returns the exit code.
int complain(const base::Error& error, int exitCode = 1);

}  // namespace sluice::server
