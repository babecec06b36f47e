#include "test/architecture/classes.h"

#include <functional>
#include <map>
#include <regex>
#include <string_view>
#include <utility>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

bool isClass(const Definition& definition) { return definition.kind == "class" || definition.kind == "struct"; }

bool isMemberFunction(const Definition& definition) {
  return (definition.kind == "function" || definition.kind == "prototype") &&
         (definition.scope.starts_with("class:") || definition.scope.starts_with("struct:"));
}

/// Returns "sluice::net::Worker" for "class:sluice::net::Worker".
std::string_view scopeName(const Definition& definition) {
  return std::string_view(definition.scope).substr(definition.scope.find(':') + 1);
}

std::string qualifiedName(const Definition& definition) {
  return definition.scope.empty() ? definition.name : std::string(scopeName(definition)) + "::" + definition.name;
}

std::string_view lineOf(const Definition& definition) {
  const SourceFile* file = findSource(definition.file);
  if (file == nullptr) return {};
  const std::vector<std::string_view> lines = splitLines(file->text);
  return definition.line <= lines.size() ? lines[definition.line - 1] : std::string_view();
}

}  // namespace

std::vector<ClassSummary> classesOf(const std::vector<Definition>& definitions) {
  std::vector<ClassSummary> classes;
  std::multimap<std::string, std::pair<std::size_t, const Definition*>, std::less<>> byName;  // indices of `classes`
  for (const Definition& definition : definitions) {
    if (!isClass(definition) || definition.name.starts_with("__anon")) continue;
    byName.emplace(qualifiedName(definition), std::make_pair(classes.size(), &definition));
    classes.push_back({definition.name, qualifiedName(definition), definition.file, definition.line, 0, {}});
  }
  for (const Definition& member : definitions) {
    if (!isMemberFunction(member)) continue;
    const auto [first, last] = byName.equal_range(scopeName(member));
    for (auto at = first; at != last; ++at) {
      const auto& [index, body] = at->second;
      classes[index].memberFiles.insert(member.file);
      if (member.file == body->file && body->line <= member.line && member.line <= body->end) {
        ++classes[index].memberFunctions;
      }
    }
  }
  return classes;
}

bool namesClass(std::string_view line, std::string_view name) {
  static const std::regex kNamed(R"(\b(?:class|struct)\s+(?:alignas\(\w+\)\s+)?(?:\w+::)*(\w+)(\s*<)?)");
  const std::string text(line);
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kNamed); at != std::sregex_iterator(); ++at) {
    if ((*at)[1].str() == name && !(*at)[2].matched) return true;
  }
  return false;
}

const std::vector<ClassSummary>& classesOfTheTree() {
  static const std::vector<ClassSummary> kClasses = [] {
    std::vector<Definition> found = definitions("cspf");
    std::erase_if(found, [](const Definition& definition) {
      return isClass(definition) && !namesClass(lineOf(definition), definition.name);
    });
    return classesOf(found);
  }();
  return kClasses;
}

}  // namespace sluice::test
