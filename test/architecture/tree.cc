#include "test/architecture/tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

bool isSkippedFolder(const std::string& name) {
  return name == ".git" || name == "node_modules" || name == "corpus" || name.starts_with("build");
}

std::vector<SourceFile> readTree() {
  std::vector<SourceFile> files;
  const fs::path root = SLUICE_SOURCE_DIR;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory()) {
      if (isSkippedFolder(name)) entry.disable_recursion_pending();
      continue;
    }
    if (name == ".git") continue;  // in a worktree it is a file, with the path of the repository
    std::ifstream in(entry->path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (text.find('\0') != std::string::npos) continue;
    files.push_back({fs::relative(entry->path(), root).generic_string(), std::move(text)});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

/// Returns the end, one past the closing quote, of the raw string literal whose R"tag( begins at `at`.
std::size_t rawLiteralEnd(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 2, open - at - 2)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

std::size_t literalEnd(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return std::min(text.size(), text.find('\n', at));
}

/// Returns one past the end of the comment or literal that begins at `at`, if one does.
std::optional<std::size_t> skippedUntil(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.size(), text.find('\n', at));
  if (rest.starts_with("/*")) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (rest.starts_with("R\"")) return rawLiteralEnd(text, at);
  const bool separator = rest[0] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]));
  if (rest[0] == '"' || (rest[0] == '\'' && !separator)) return literalEnd(text, at);
  return std::nullopt;
}

/// Returns the text of a // comment without its slashes.
std::string_view wordsOf(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of('/'), comment.size()));
  if (comment.starts_with('<')) comment.remove_prefix(1);
  if (comment.starts_with(' ')) comment.remove_prefix(1);
  return comment;
}

}  // namespace

const std::vector<SourceFile>& sourceTree() {
  static const std::vector<SourceFile> kTree = readTree();
  return kTree;
}

const SourceFile* findSource(std::string_view path) {
  const auto& tree = sourceTree();
  const auto at = std::lower_bound(tree.begin(), tree.end(), path,
                                   [](const SourceFile& file, std::string_view wanted) { return file.path < wanted; });
  return at != tree.end() && at->path == path ? &*at : nullptr;
}

std::vector<std::string> includesOf(std::string_view text) {
  std::vector<std::string> includes;
  for (const std::string_view line : splitLines(text)) {
    if (!line.starts_with("#include")) continue;
    const std::size_t open = line.find_first_of("\"<");
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    if (close != std::string_view::npos) includes.emplace_back(line.substr(open + 1, close - open - 1));
  }
  return includes;
}

std::string codeOnly(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::optional<std::size_t> end = skippedUntil(text, i);
    if (!end) {
      ++i;
      continue;
    }
    for (; i < *end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  }
  return code;
}

std::vector<Comment> commentsOf(std::string_view text) {
  std::vector<Comment> comments;
  std::size_t line = 1;
  std::size_t lineStart = 0;
  std::size_t lastLine = 0;  // of the last comment
  std::size_t lastColumn = 0;
  const auto countLines = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (text[i] != '\n') continue;
      ++line;
      lineStart = i + 1;
    }
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = skippedUntil(text, i).value_or(i + 1);
    if (text.substr(i).starts_with("//")) {
      const std::size_t column = i - lineStart;
      const bool alone = text.substr(lineStart, column).find_first_not_of(' ') == std::string_view::npos;
      const bool continues = alone && !comments.empty() && lastLine + 1 == line && lastColumn == column;
      if (!continues) comments.push_back({line, {}});
      const std::string_view words = wordsOf(text.substr(i, end - i));
      if (continues && !words.empty()) comments.back().text += ' ';
      comments.back().text += words;
      lastLine = line;
      lastColumn = column;
    }
    countLines(i, end);
    i = end;
  }
  return comments;
}

std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string listed(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += "\n  " + finding;
  return text;
}

}  // namespace sluice::test
