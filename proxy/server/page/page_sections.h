// The words of the live page: what stands above its sections, the sections in their order, and their columns. The
// state of the page carries them, so the page of a browser and `sluice top` use the same ones.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "proxy/base/json_writer.h"

namespace sluice::server {

/// A member of the state or of a row, and its title.
struct PageColumn {
  std::string_view member;
  std::string_view title;
};

struct PageSection {
  std::string_view name;
  std::string_view title;
  std::string_view none;  // the text of a section without rows
  std::span<const PageColumn> columns;
};

/// The most rows of a section that a state has.
inline constexpr std::size_t kMostRows = 200;

std::span<const PageColumn> pageHead();
std::span<const PageSection> pageSections();

/// Writes the members "head" and "words" of the state.
void writeWords(base::JsonWriter& json);

}  // namespace sluice::server
