// The classes and structs of the tree, with the member functions that universal-ctags finds for each.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/architecture/ctags.h"

namespace sluice::test {

struct ClassSummary {
  std::string name;
  std::string qualified;  // with its namespaces and enclosing classes
  std::string file;
  std::size_t line = 0;
  std::size_t memberFunctions = 0;    // declared or defined between its braces
  std::set<std::string> memberFiles;  // files that declare or define one of its member functions
};

/// Returns the classes among `definitions`, each with its functions and prototypes among them. Leaves out classes
/// without a name.
std::vector<ClassSummary> classesOf(const std::vector<Definition>& definitions);

/// Returns whether the line names a class or struct `name` behind that keyword. False for a specialisation of a
/// template, which repeats the template's name, and for a variable ("struct stat facts {};"), which ctags takes for a
/// class.
bool namesClass(std::string_view line, std::string_view name);

/// Returns the classes of proxy, config, filters, test and perf; empty if ctags is missing. Runs ctags once.
const std::vector<ClassSummary>& classesOfTheTree();

}  // namespace sluice::test
