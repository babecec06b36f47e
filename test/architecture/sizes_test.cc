// Gates on size: a file is one idea, a function is read at one glance.
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

constexpr std::size_t kMaxFileLines = 500;
constexpr std::size_t kMaxFunctionLines = 60;

struct FunctionSpan {
  std::string file;
  std::string name;
  std::size_t first = 0;
  std::size_t last = 0;
};

std::size_t numberAfter(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  std::size_t number = 0;
  if (at != std::string_view::npos) std::from_chars(line.data() + at + key.size(), line.data() + line.size(), number);
  return number;
}

/// What universal-ctags says about the functions of C++ files; empty if it is not installed.
std::vector<FunctionSpan> functionSpans() {
  const std::string command =
      std::string("cd '" SLUICE_SOURCE_DIR "' && ls -d proxy config filters test perf 2>/dev/null | ") +
      "ctags -R -L - -f - --languages=C++ --langmap=C++:.h.cc --c++-kinds=f --fields=ne "
      "--excmd=number --exclude=node_modules 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = pipe ? fread(buffer.data(), 1, buffer.size(), pipe.get()) : 0)
    text.append(buffer.data(), count);
  std::vector<FunctionSpan> spans;
  for (const std::string_view line : splitLines(text)) {
    if (line.starts_with("!_")) continue;
    const std::size_t name = line.find('\t');
    if (name == std::string_view::npos) continue;
    const std::size_t file = line.find('\t', name + 1);
    spans.push_back({std::string(line.substr(name + 1, file - name - 1)), std::string(line.substr(0, name)),
                     numberAfter(line, "\tline:"), numberAfter(line, "\tend:")});
  }
  return spans;
}

TEST(Sizes, NoFileIsLongerThan500Lines) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    const std::size_t lines = splitLines(file.text).size();
    const bool code =
        file.isCpp() || file.endsWith(".sh") || file.endsWith(".py") || file.endsWith(".mjs") || file.endsWith(".txt");
    if (code && lines > kMaxFileLines) findings.push_back(file.path + ": " + std::to_string(lines) + " lines");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Sizes, NoFunctionIsLongerThan60Lines) {
  const std::vector<FunctionSpan> spans = functionSpans();
  ASSERT_GT(spans.size(), 50u) << "universal-ctags finds the functions: test/support/install.sh test";
  std::vector<std::string> findings;
  for (const FunctionSpan& span : spans) {
    if (span.last < span.first + kMaxFunctionLines) continue;
    findings.push_back(span.file + ":" + std::to_string(span.first) + ": " + span.name + " has " +
                       std::to_string(span.last - span.first + 1) + " lines");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
