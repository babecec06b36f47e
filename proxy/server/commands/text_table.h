// A table for people, whose columns are as wide as their longest cell.
#pragma once

#include <string>
#include <vector>

namespace sluice::server {

class TextTable {
 public:
  /// All rows have as many cells as `head`.
  explicit TextTable(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Returns its lines. The last column is not filled up.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sluice::server
