// The source tree as the architecture tests see it: its files, what they include, and their code without comments and
// literals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

struct SourceFile {
  std::string path;  // relative to the root, "proxy/net/tcp.cc"
  std::string text;

  std::string folder() const { return path.substr(0, path.rfind('/')); }
  bool endsWith(std::string_view suffix) const { return std::string_view(path).ends_with(suffix); }
  bool startsWith(std::string_view prefix) const { return std::string_view(path).starts_with(prefix); }
  bool isCpp() const { return endsWith(".h") || endsWith(".cc"); }
  bool isHeader() const { return endsWith(".h"); }
  /// Part of the program, not of what tests and measures it.
  bool isProduct() const {
    return isCpp() && (startsWith("proxy/") || startsWith("config/") || startsWith("filters/"));
  }
};

/// Every text file below the root but build folders, installed packages and version control; sorted by path. Read once.
const std::vector<SourceFile>& sourceTree();

/// The file of that path, or nullptr.
const SourceFile* findSource(std::string_view path);

/// What stands between the quotes or brackets of #include lines.
std::vector<std::string> includesOf(std::string_view text);

/// Comments and the insides of string and character literals replaced by spaces: lines keep their numbers.
std::string codeOnly(std::string_view text);

std::vector<std::string_view> splitLines(std::string_view text);

/// Findings, one a line, for a failing assertion; empty if there are none.
std::string listed(const std::vector<std::string>& findings);

}  // namespace sluice::test
