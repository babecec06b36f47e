// The definitions and prototypes that universal-ctags finds in the C++ files of the tree.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

struct Definition {
  std::string name;
  std::string kind;   // "function", "prototype", "class", "struct", ...
  std::string file;   // relative to the root
  std::string scope;  // "namespace:sluice::net"; a namespace without a name is "__anon" and digits
  std::size_t line = 0;
  std::size_t end = 0;  // the last line
};

/// Returns the definitions of the given kinds, as ctags' --c++-kinds names them ("f" for functions, "p" for
/// prototypes). Returns none if ctags is missing.
std::vector<Definition> definitions(std::string_view kinds);

/// Parses what ctags prints with --fields=neZsKz --excmd=number.
std::vector<Definition> parseTags(std::string_view text);

}  // namespace sluice::test
