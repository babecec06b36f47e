// Scripts by which shells complete the command line.
//
// Each script knows every command with its options, and the values of an option: files for a path, a list of words, or
// nothing. It needs no running program and no other script.
#pragma once

#include <string>

#include "proxy/server/command_line/command_shape.h"

namespace sluice::server {

/// Returns the script for bash. It is sourced, or lies in bash-completion's folder under the program's name.
std::string bashCompletion(const CommandShape& root);
/// Returns the script for zsh. It is sourced after compinit, or lies in a folder of `fpath` as _sluice.
std::string zshCompletion(const CommandShape& root);
/// Returns the script for fish. It is sourced, or lies in one of fish's folders for completions.
std::string fishCompletion(const CommandShape& root);

}  // namespace sluice::server
