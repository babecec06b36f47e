// Draws the state of the live page as lines for a terminal, in the words that the state carries.
//
// Pure functions. Texts of the state may come from anybody, so characters that would move a terminal are escaped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/value.h"

namespace sluice::server {

struct PageLine {
  std::string text;
  bool isTitle = false;
};

/// Returns the lines, of at most `mostRows` rows for each section, which are as long as they are.
std::vector<PageLine> pageLines(const content::Value& state, std::size_t mostRows);

/// Returns the beginning of the line that has room in that many columns.
std::string_view cutToColumns(std::string_view line, std::size_t columns);

}  // namespace sluice::server
