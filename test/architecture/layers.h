// The libraries of the project: each owns a tree of folders, and may include what stands below it. The table is
// CMakeLists.txt itself.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sluice::test {

/// The top folder of a library -> top folders that it may include, its own too.
using Layers = std::map<std::string, std::set<std::string>, std::less<>>;

/// sluice_library(name folder libraries...) lines, closed over what the libraries link themselves. Read once.
const Layers& layers();

/// The top folder of the library that the file is of; empty if it is of none.
std::string libraryOf(std::string_view path);

}  // namespace sluice::test
