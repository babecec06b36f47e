#include "proxy/content/output/text_table.h"

#include <algorithm>
#include <utility>

namespace sluice::content {

TextTable::TextTable(std::vector<std::string> head, TableLayout layout) : layout_(layout) {
  if (!head.empty()) rows_.push_back(std::move(head));
}

void TextTable::addJudged(std::vector<std::string> row, const std::vector<std::string>& faults) {
  const std::size_t column = row.size();
  row.push_back(faults.empty() ? "ok" : faults.front());
  rows_.push_back(std::move(row));
  for (std::size_t i = 1; i < faults.size(); ++i) {
    std::vector<std::string> further(column);
    further.push_back(faults[i]);
    rows_.push_back(std::move(further));
  }
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    std::size_t start = layout_.indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty()) line.append(start - line.size(), ' ').append(row[i]);
      if (widths[i] > 0) start += widths[i] + layout_.gap;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace sluice::content
