// Bounds on the sizes of files, folders, functions and classes.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "test/architecture/classes.h"
#include "test/architecture/ctags.h"
#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

constexpr std::size_t kMaxFileLines = 500;
constexpr std::size_t kMaxFunctionLines = 60;
constexpr std::size_t kMaxFilesOfAFolder = 40;
constexpr std::size_t kMaxMemberFunctions = 40;

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

TEST(Sizes, NoFolderHoldsMoreThan40Files) {
  std::map<std::string, std::size_t> files;
  for (const SourceFile& file : sourceTree()) {
    if (file.isCpp()) ++files[file.folder()];
  }
  std::vector<std::string> findings;
  for (const auto& [folder, count] : files) {
    if (count > kMaxFilesOfAFolder) findings.push_back(folder + ": " + std::to_string(count) + " files");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Sizes, NoFunctionIsLongerThan60Lines) {
  const std::vector<Definition> functions = definitions("f");
  ASSERT_GT(functions.size(), 50u) << "universal-ctags finds the functions: test/support/install.sh test";
  std::vector<std::string> findings;
  for (const Definition& function : functions) {
    if (function.end < function.line + kMaxFunctionLines) continue;
    findings.push_back(function.file + ":" + std::to_string(function.line) + ": " + function.name + " has " +
                       std::to_string(function.end - function.line + 1) + " lines");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Sizes, NoClassHasMoreThan40MemberFunctions) {
  ASSERT_GT(classesOfTheTree().size(), 500u) << "universal-ctags finds the classes: test/support/install.sh test";
  std::vector<std::string> findings;
  for (const ClassSummary& type : classesOfTheTree()) {
    if (type.memberFunctions <= kMaxMemberFunctions) continue;
    findings.push_back(type.file + ":" + std::to_string(type.line) + ": " + type.qualified + " has " +
                       std::to_string(type.memberFunctions) + " member functions");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Sizes, NoClassIsDefinedInMoreThanOneHeaderAndOneSource) {
  ASSERT_GT(classesOfTheTree().size(), 500u) << "universal-ctags finds the classes: test/support/install.sh test";
  std::vector<std::string> findings;
  for (const ClassSummary& type : classesOfTheTree()) {
    std::string names;
    std::size_t headers = 0;
    for (const std::string& file : type.memberFiles) {
      names += " " + file;
      if (file.ends_with(".h")) ++headers;
    }
    if (headers <= 1 && type.memberFiles.size() - headers <= 1) continue;
    findings.push_back(type.file + ":" + std::to_string(type.line) + ": " + type.qualified + " has members in" + names);
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
