// The source tree as the architecture tests see it: its files, their includes, their comments, and their code without
// comments and literals.
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
  /// True for a source of the program itself; false for one of its tests and benchmarks.
  bool isProduct() const {
    return isCpp() && (startsWith("proxy/") || startsWith("config/") || startsWith("filters/"));
  }
};

/// Returns every text file below the root, except in build folders, installed packages, fuzz corpora and version
/// control; sorted by path. Read once.
const std::vector<SourceFile>& sourceTree();

/// Returns the file of that path, or nullptr.
const SourceFile* findSource(std::string_view path);

/// Returns the paths in the quotes or brackets of #include lines.
std::vector<std::string> includesOf(std::string_view text);

/// Returns the text with comments and literals replaced by spaces, so that lines keep their numbers.
std::string codeOnly(std::string_view text);

struct Comment {
  std::size_t line = 0;  // where it begins
  std::string text;      // without the slashes; its lines are joined by spaces
};

/// Returns the // comments of the text. Comments that stand below each other at the same column are one.
std::vector<Comment> commentsOf(std::string_view text);

std::vector<std::string_view> splitLines(std::string_view text);

/// Joins findings, one a line, for a failing assertion; empty if there are none.
std::string listed(const std::vector<std::string>& findings);

}  // namespace sluice::test
