// Constructs and words that no source may have, and lines that every header must have.
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "test/architecture/layers.h"
#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

using Where = std::function<bool(const SourceFile&)>;

bool product(const SourceFile& file) { return file.isProduct(); }
/// Leaves out the log, because spdlog takes its sinks as shared_ptr.
bool ourOwnership(const SourceFile& file) { return file.isProduct() && file.path != "proxy/observe/log.cc"; }
bool cpp(const SourceFile& file) { return file.isCpp(); }
/// Leaves out this folder, which spells out what it looks for, and lock files.
bool anyText(const SourceFile& file) {
  return !file.startsWith("test/architecture/") && !file.endsWith("/package-lock.json");
}

/// C++ and CMake, without this folder, which spells out what it looks for.
bool code(const SourceFile& file) {
  return (file.isCpp() || file.endsWith("CMakeLists.txt") || file.endsWith(".cmake")) && anyText(file);
}

struct Ban {
  const char* pattern;
  const char* instead;
  Where where;
  bool commentsToo = false;
};

void expectNowhere(const std::vector<Ban>& bans) {
  std::vector<std::string> findings;
  std::vector<std::regex> patterns;
  for (const Ban& ban : bans) patterns.emplace_back(ban.pattern);
  for (const SourceFile& file : sourceTree()) {
    const std::string code = file.isCpp() ? codeOnly(file.text) : file.text;
    for (std::size_t i = 0; i < bans.size(); ++i) {
      const Ban& ban = bans[i];
      if (!ban.where(file)) continue;
      std::size_t number = 0;
      for (const std::string_view line : splitLines(ban.commentsToo ? file.text : code)) {
        ++number;
        if (!std::regex_search(line.begin(), line.end(), patterns[i])) continue;
        findings.push_back(file.path + ":" + std::to_string(number) + ": /" + ban.pattern + "/: " + ban.instead);
      }
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Bans, EveryObjectHasOneVisibleOwner) {
  expectNowhere({
      {R"(\bdelete\s+this\b)", "an owner destroys it in the reap beat", cpp},
      {R"(\bdelete\s+[A-Za-z_\[])", "an owner holds it by value or unique_ptr", product},
      {R"(^(?!.*unique_ptr<).*\bnew\s+[A-Za-z_])", "make_unique, or unique_ptr around a private constructor", product},
      {R"(\b(malloc|calloc|realloc)\s*\()", "ChunkPool, Arena or a container",
       [](const SourceFile& file) {
         // nghttp2 and Lua take their memory from functions like these, which count it.
         return file.isProduct() && file.path != "proxy/http/h2/h2_memory.cc" &&
                file.path != "filters/lua/ground/script_meter.cc";
       }},
      {R"(shared_ptr<(?!\s*const\b))", "shared_ptr only to const", ourOwnership},
  });
}

TEST(Bans, NoMutableGlobalsOrSingletons) {
  expectNowhere({
      {R"(\bthread_local\b)", "the worker owns it", product},
      {R"(\bstatic\s+(?!const\b|constexpr\b|constinit\b)[\w:<>,\s]+[\s&*]\w+\s*(=[^=]|;|\{))", "inject it", product},
      {R"(^(inline|extern)\s+(?!const\b|constexpr\b|namespace\b)[\w:<>]+\s+\w+\s*(=|;|\{))", "inject it", product},
      {R"(^std::(atomic|mutex|map|vector|string|unordered_map)\b[^(]*\s\w+\s*(=|;|\{))", "inject it", product},
      {R"(\b(rand|srand|getenv|setenv|std::random_device)\s*\()", "randomness and environment are injected", product},
      {R"(\b(system_clock|steady_clock)::now\s*\()", "base::Clock",
       [](const SourceFile& file) { return file.isProduct() && file.path != "proxy/base/clock.h"; }},
  });
}

TEST(Bans, NobodySleeps) {
  expectNowhere(
      {{R"(\b(sleep|usleep|nanosleep)\s*\(|\bsleep_(for|until)\b|\bthis_thread::yield\b)",
        "wait for the event itself, with a deadline", cpp},
       {R"(\bpoll\s*\(\s*(nullptr|NULL|0)\b)",
        "the event itself, or eventually(); letTimePass() for a peer that is slow on purpose",
        [](const SourceFile& file) { return file.isCpp() && file.path != "test/integration/support/waiting.cc"; }}});
}

TEST(Bans, NothingSlowOrUnboundedIsUsed) {
  expectNowhere({
      {R"(^\s*#\s*include\s*<regex>|\bstd::regex)", "RE2", product},
      {R"(^\s*#\s*include\s*<iostream>)", "observe, or the command line's own output",
       [](const SourceFile& file) { return file.isProduct() && !file.startsWith("proxy/server/"); }},
      {R"(\busing\s+namespace\b(?!.*literals))", "name what is used", cpp},
      {R"(\b(strcpy|strcat|sprintf|gets|atoi|atol|strtok)\s*\()", "string_view, from_chars", cpp},
  });
}

TEST(Bans, AFileThatThrowsAlsoCatches) {
  std::vector<std::string> findings;
  static const std::regex kThrow(R"(\bthrow\b)");
  static const std::regex kCatch(R"(\bcatch\s*\()");
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    const std::string code = codeOnly(file.text);
    if (std::regex_search(code, kThrow) && !std::regex_search(code, kCatch)) findings.push_back(file.path);
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Bans, NoTodoIsLeft) {
  expectNowhere({{R"(\b(TODO|FIXME|XXX|HACK)\b)", "do it or open an issue", anyText, true},
                 {R"(^\s*#\s*if\s+0\b)", "remove it", cpp},
                 {R"(\bDISABLED_)", "fix it or remove it", cpp}});
}

TEST(Bans, NoRequirementIsNamedByANumber) {
  expectNowhere({{R"(\b[A-Z]-\d\d[a-z]?\b)", "say the requirement itself", code, true}});
}

TEST(Bans, NoMachineAndNoRegistryIsNamed) {
  expectNowhere({
      {R"((^|[\s"'=(])/(work|root|home)/)", "a path of one machine", anyText, true},
      {R"(/tmp/build)", "a path of one machine", anyText, true},
      {R"(\b(deb|security|ftp|snapshot)\.debian\.org|registry\.npmjs|registry\.yarnpkg|nodesource\.com|pypi\.org|crates\.io)",
       "the machine's own configuration says where packages come from", anyText, true},
      {R"("resolved":)", "lock files name no registry",
       [](const SourceFile& file) { return file.endsWith("/package-lock.json"); }},
  });
}

TEST(Bans, NoPrivateKeyButTheDemonstrationsOwn) {
  expectNowhere({{R"(BEGIN ([A-Z]+ )?PRIVATE KEY)", "make it when it is needed", [](const SourceFile& file) {
                    return !file.startsWith("test/") && !file.startsWith("examples/quickstart/origin/");
                  }}});
}

TEST(Bans, HeadersHaveACommentAndTheNamespaceOfTheirFolder) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isHeader()) continue;
    if (!file.text.starts_with("//")) findings.push_back(file.path + ": begins without a comment that says what it is");
    if (file.text.find("\n#pragma once\n") == std::string::npos)
      findings.push_back(file.path + ": has no #pragma once");
    if (!file.isProduct() || file.path == "filters/library/sluice_processor.h") continue;  // C has no namespaces
    const std::string library = libraryOf(file.path);
    const std::string wanted = "namespace sluice::" + library.substr(library.rfind('/') + 1);
    if (file.text.find(wanted) == std::string::npos) findings.push_back(file.path + ": is not in " + wanted);
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Bans, FilesAreNamedAndEndedAlike) {
  std::vector<std::string> findings;
  static const std::regex kSnakeCase(R"([a-z0-9_]+\.(h|cc))");
  for (const SourceFile& file : sourceTree()) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (file.isCpp() && !std::regex_match(name, kSnakeCase)) findings.push_back(file.path + ": is not snake_case");
    if (!file.isCpp() && !file.endsWith(".sh") && !file.endsWith(".txt") && !file.endsWith(".md")) continue;
    if (!file.text.empty() && file.text.back() != '\n') findings.push_back(file.path + ": has no newline at its end");
    if (file.text.find('\r') != std::string::npos) findings.push_back(file.path + ": has carriage returns");
    if (file.isCpp() && file.text.find('\t') != std::string::npos) findings.push_back(file.path + ": has tabs");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
