// Reads the user's reference (config/reference), for tests that compare it with the tables of the code.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

using PageRow = std::vector<std::string>;

/// Returns the text of a page, such as "errors.md". It is a test failure if there is no such page.
inline std::string referencePage(const std::string& name) {
  std::ifstream in(SLUICE_SOURCE_DIR "/config/reference/" + name);
  EXPECT_TRUE(in.good()) << "config/reference/" << name << " is missing";
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the text of a section: from the line that is this heading to the next heading of its level or above. It is
/// a test failure if there is none.
inline std::string pageSection(const std::string& page, const std::string& heading) {
  const std::size_t begin = ("\n" + page).find("\n" + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << "there is no heading " << heading;
  if (begin == std::string::npos) return {};
  std::size_t end = page.size();
  for (std::string marks = "\n# "; marks.size() <= heading.find(' ') + 2; marks.insert(1, "#")) {
    end = std::min(end, page.find(marks, begin + heading.size()));
  }
  return page.substr(begin, end - begin);
}

/// Returns the cells of a line of a table, without the blanks around them. A bar between backticks is text.
inline PageRow pageCells(std::string_view line) {
  PageRow cells;
  std::string cell;
  bool quoted = false;
  for (const char c : line.substr(1)) {
    if (c == '`') quoted = !quoted;
    if (c != '|' || quoted) {
      cell += c;
      continue;
    }
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    cell.clear();
  }
  return cells;
}

/// Returns the rows below the line that is exactly `head` ("| code | status |"). It is a test failure if there are
/// none.
inline std::vector<PageRow> pageTable(const std::string& text, const std::string& head) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line != head) continue;
  std::getline(lines, line);  // the line of dashes
  std::vector<PageRow> rows;
  while (std::getline(lines, line) && line.starts_with("|")) rows.push_back(pageCells(line));
  EXPECT_FALSE(rows.empty()) << "there is no table with the head " << head;
  return rows;
}

/// Returns the words between backticks, in their order.
inline std::vector<std::string> quotedWords(std::string_view cell) {
  std::vector<std::string> words;
  for (std::size_t begin = cell.find('`'); begin != std::string_view::npos;) {
    const std::size_t end = cell.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    words.emplace_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return words;
}

/// Returns the first quoted word of the first cell of each row.
inline std::vector<std::string> firstWords(const std::vector<PageRow>& rows) {
  std::vector<std::string> words;
  for (const PageRow& row : rows) {
    const std::vector<std::string> quoted = row.empty() ? std::vector<std::string>() : quotedWords(row.front());
    words.push_back(quoted.empty() ? "" : quoted.front());
  }
  return words;
}

/// Returns the blocks between a line "```yaml" and the next "```".
inline std::vector<std::string> yamlBlocks(const std::string& page) {
  static constexpr std::string_view kFence = "```yaml\n";
  std::vector<std::string> blocks;
  for (std::size_t begin = page.find(kFence); begin != std::string::npos; begin = page.find(kFence, begin)) {
    begin += kFence.size();
    blocks.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return blocks;
}

}  // namespace sluice::test
