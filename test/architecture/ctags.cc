#include "test/architecture/ctags.h"

#include <charconv>

#include "test/architecture/command.h"
#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

/// Returns the text between `key` and the next tab.
std::string_view fieldOf(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find('\t'));
}

std::size_t numberOf(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::vector<Definition> parseTags(std::string_view text) {
  std::vector<Definition> found;
  for (const std::string_view line : splitLines(text)) {
    const std::size_t name = line.find('\t');
    if (line.starts_with("!_") || name == std::string_view::npos) continue;
    const std::size_t file = line.find('\t', name + 1);
    found.push_back({std::string(line.substr(0, name)), std::string(fieldOf(line, "\tkind:")),
                     std::string(line.substr(name + 1, file - name - 1)), std::string(fieldOf(line, "\tscope:")),
                     numberOf(fieldOf(line, "\tline:")), numberOf(fieldOf(line, "\tend:"))});
  }
  return found;
}

std::vector<Definition> definitions(std::string_view kinds) {
  return parseTags(outputOf(std::string("ls -d proxy config filters test perf 2>/dev/null | ") +
                            "ctags -R -L - -f - --languages=C++ --langmap=C++:.h.cc --c++-kinds=" + std::string(kinds) +
                            " --fields=neZsKz --excmd=number --exclude=node_modules 2>/dev/null"));
}

}  // namespace sluice::test
