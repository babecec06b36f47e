// A table for people, whose columns are as wide as their longest cell.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sluice::content {

struct TableLayout {
  std::size_t indent = 0;  // blanks before the first column
  std::size_t gap = 3;     // blanks between columns
};

class TextTable {
 public:
  /// All rows have as many cells as `head`, if there is one.
  explicit TextTable(std::vector<std::string> head, TableLayout layout = {});
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Adds a row whose last cell names the faults, one below the other; "ok" if there are none.
  void addJudged(std::vector<std::string> row, const std::vector<std::string>& faults);
  /// Returns its lines. No line is filled up behind its last cell, and a column without any text takes no room.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  TableLayout layout_;
};

}  // namespace sluice::content
