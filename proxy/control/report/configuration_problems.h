// Lists all problems of a configuration, of reading and of compiling, each with its file and line.
#pragma once

#include "config/ground/problem.h"
#include "proxy/control/configuration/compiled_configuration.h"

namespace sluice::control {

/// Returns the problems of the configuration, each once, in the order of files and lines: those of reading, and those
/// that conditions report, which are errors, or warnings if the condition is a good one. Problems of no file come
/// first.
config::Problems allProblems(const CompiledConfiguration& configuration);

/// Returns the text of a problem without its place and object: "spec.rules[0]: it has no backendRefs".
std::string problemText(const config::Problem& problem);

}  // namespace sluice::control
