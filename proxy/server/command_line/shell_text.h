// Small pieces of text that the scripts for shells share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::server {

/// Returns "a, b" for the separator ", ".
std::string joinedBy(std::string_view separator, const std::vector<std::string>& words);

/// Returns the text as one word of bash and zsh.
std::string singleQuoted(std::string_view text);

/// Returns the text with `mark` before each byte that is one of `special`.
std::string marked(std::string_view text, std::string_view special, char mark);

}  // namespace sluice::server
