// Facts about a compiled function of Lua that its interface does not tell: the variables of its surroundings that it
// assigns, and the strings in it.
//
// They are read from the bytes that lua_dump() writes, in the format of Lua 5.4. Anything unexpected is an error, so
// that a script is refused and not misjudged. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::filters::lua {

struct AssignedUpvalue {
  std::string name;  // of the variable
  int line = 0;
};

struct ChunkFacts {
  /// Variables outside of the function that it, or a function within it, assigns.
  std::vector<AssignedUpvalue> assigned;
  /// Every string constant of the function and of those within it.
  std::vector<std::string> strings;
};

std::optional<ChunkFacts> readChunk(std::string_view dumped);

}  // namespace sluice::filters::lua
