#include "proxy/server/commands/text_table.h"

#include <algorithm>
#include <cstddef>

namespace sluice::server {

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 3, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace sluice::server
