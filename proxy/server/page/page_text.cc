#include "proxy/server/page/page_text.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_text.h"
#include "proxy/content/member_text.h"
#include "proxy/content/output/text_table.h"

namespace sluice::server {
namespace {

using content::Value;

/// Returns the text as a JSON string writes it, without its quotation marks.
std::string terminalText(std::string_view text) {
  std::string quoted;
  base::appendJsonString(quoted, text);
  return quoted.substr(1, quoted.size() - 2);
}

const std::vector<Value>& listMember(const Value& map, std::string_view key) {
  static const std::vector<Value> kNone;
  const Value* list = map.find(key);
  return list != nullptr ? list->items : kNone;
}

std::string headLine(const Value& state) {
  std::string line;
  for (const Value& each : listMember(state, "head")) {
    const std::string& value = content::memberText(state, content::memberText(each, "member"));
    if (value.empty()) continue;
    line += (line.empty() ? "" : "   ") + terminalText(content::memberText(each, "title")) + " " + terminalText(value);
  }
  return line;
}

/// Leaves out the columns in which no row has anything.
std::vector<std::pair<std::string, std::string>> columnsOf(const Value& words, const std::vector<Value>& rows) {
  std::vector<std::pair<std::string, std::string>> columns;
  for (const Value& each : listMember(words, "columns")) {
    const std::string& member = content::memberText(each, "member");
    const auto hasIt = [&member](const Value& row) { return !content::memberText(row, member).empty(); };
    if (std::any_of(rows.begin(), rows.end(), hasIt)) columns.emplace_back(member, content::memberText(each, "title"));
  }
  return columns;
}

std::string tableOf(const Value& words, const std::vector<Value>& rows, std::size_t shown) {
  const auto columns = columnsOf(words, rows);
  std::vector<std::string> head;
  for (const auto& [member, title] : columns) head.push_back(terminalText(title));
  content::TextTable table(std::move(head), {2, 2});
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells;
    for (const auto& [member, title] : columns) cells.push_back(terminalText(content::memberText(rows[i], member)));
    table.add(std::move(cells));
  }
  return table.text();
}

void addLines(std::string_view text, std::vector<PageLine>& lines) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back({std::string(line)});
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

void addSection(const Value& words, const Value& section, std::size_t mostRows, std::vector<PageLine>& lines) {
  const std::vector<Value>& rows = listMember(section, "rows");
  const std::string& total = content::memberText(section, "total");
  lines.push_back({});
  lines.push_back(
      {terminalText(content::memberText(words, "title")) + (rows.empty() ? "" : " (" + terminalText(total) + ")"),
       /*isTitle=*/true});
  if (rows.empty()) return lines.push_back({"  " + terminalText(content::memberText(words, "none"))});
  const std::size_t shown = std::min(rows.size(), mostRows);
  addLines(tableOf(words, rows, shown), lines);
  if (shown < rows.size()) lines.push_back({"  and " + std::to_string(rows.size() - shown) + " more"});
}

}  // namespace

std::vector<PageLine> pageLines(const Value& state, std::size_t mostRows) {
  std::vector<PageLine> lines{{headLine(state), /*isTitle=*/true}};
  const Value* sections = state.find("sections");
  for (const Value& words : listMember(state, "words")) {
    const Value* section = sections != nullptr ? sections->find(content::memberText(words, "section")) : nullptr;
    if (section != nullptr) addSection(words, *section, mostRows, lines);
  }
  return lines;
}

std::string_view cutToColumns(std::string_view line, std::size_t columns) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;  // a character of UTF-8
    if (begins && width++ == columns) return line.substr(0, i);
  }
  return line;
}

}  // namespace sluice::server
