// The libraries of the project. Each owns a tree of folders and may include the headers of the libraries that it links.
// CMakeLists.txt is the table.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sluice::test {

/// Maps the top folder of a library to the top folders that it may include, its own among them.
using Layers = std::map<std::string, std::set<std::string>, std::less<>>;

/// Returns the table from the sluice_library(name folder libraries...) lines, closed over the libraries that those link
/// themselves. Read once.
const Layers& layers();

/// Returns the top folder of the library that the file belongs to; empty if it belongs to none.
std::string libraryOf(std::string_view path);

}  // namespace sluice::test
