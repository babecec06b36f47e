// The manual page sluice(1).
#pragma once

#include <span>
#include <string>

#include "proxy/server/command_line/command_shape.h"
#include "proxy/server/command_line/help_text.h"

namespace sluice::server {

/// Returns the page in roff, for the macros of man(7).
std::string manualPage(const CommandShape& root, std::span<const HelpSection> sections);

}  // namespace sluice::server
