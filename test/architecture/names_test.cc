// Names that must be unique: of classes in the tree, and of everything in the unnamed namespaces of a library.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/architecture/classes.h"
#include "test/architecture/ctags.h"
#include "test/architecture/layers.h"
#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

/// Returns the folder of the target that the file is compiled into: a library, a test binary or a support library.
std::string targetOf(const std::string& file) {
  const std::string library = libraryOf(file);
  if (!library.empty()) return library;
  const bool apart = file.find("/support/") != std::string::npos || file.find("/heavy/") != std::string::npos;
  return file.substr(0, apart ? file.rfind('/') : file.find('/', file.find('/') + 1));
}

bool isInUnnamedNamespace(const Definition& definition) {
  const std::size_t last = definition.scope.rfind(':') + 1;
  return definition.scope.starts_with("namespace:") && definition.scope.compare(last, 6, "__anon") == 0;
}

bool isInNamedNamespace(const Definition& definition) {
  return definition.scope.starts_with("namespace:") && definition.scope.find("__anon") == std::string::npos;
}

// The files of a library are compiled many at a time, as one unit, in which they share one unnamed namespace. If two
// files define the same name in it, they clash, or worse, a call silently reaches the other file's overload.
TEST(Names, InUnnamedNamespacesAreUniqueInTheirLibrary) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> local;  // target and name: files
  std::map<std::pair<std::string, std::string>, std::set<std::string>> shared;
  for (const Definition& definition : definitions("fvgsct")) {
    if (definition.name.starts_with("__anon") || definition.name.starts_with("TEST")) continue;
    const auto place = std::make_pair(targetOf(definition.file), definition.name);
    if (isInUnnamedNamespace(definition)) local[place].insert(definition.file);
    if (isInNamedNamespace(definition)) shared[place].insert(definition.file);
  }
  ASSERT_GT(local.size(), 500u) << "universal-ctags finds the names: test/support/install.sh test";
  std::vector<std::string> findings;
  for (const auto& [place, files] : local) {
    const auto known = shared.find(place);
    if (files.size() > 1) findings.push_back(place.second + ": in " + *files.begin() + " and " + *files.rbegin());
    if (known != shared.end())
      findings.push_back(place.second + ": in " + *files.begin() + " and " + *known->second.begin());
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Names, AreGivenToOneClassInTheTree) {
  ASSERT_GT(classesOfTheTree().size(), 500u) << "universal-ctags finds the classes: test/support/install.sh test";
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::size_t>> places;  // name: file, scope: line
  for (const ClassSummary& type : classesOfTheTree()) {
    places[type.name].emplace(std::make_pair(type.file, type.qualified), type.line);
  }
  std::vector<std::string> findings;
  for (const auto& [name, classes] : places) {
    if (classes.size() == 1) continue;
    std::string finding = name + ":";
    for (const auto& [place, line] : classes) finding += " " + place.first + ":" + std::to_string(line);
    findings.push_back(finding);
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
