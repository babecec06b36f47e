#include "test/architecture/layers.h"

#include <regex>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

Layers readLayers() {
  Layers layers;
  std::map<std::string, std::string> folderOf;
  const SourceFile* cmake = findSource("CMakeLists.txt");
  if (cmake == nullptr) return layers;
  static const std::regex kLibrary(R"(^sluice_library\((\w+) ([\w/]+)([^)]*)\))");
  static const std::regex kLinked(R"(\bsluice_(\w+))");
  for (const std::string_view view : splitLines(cmake->text)) {
    const std::string line(view);
    std::smatch found;
    if (!std::regex_search(line, found, kLibrary)) continue;
    const std::string folder = found[2];
    folderOf[found[1]] = folder;
    std::set<std::string>& allowed = layers[folder];
    allowed.insert(folder);
    const std::string rest = found[3];
    for (auto it = std::sregex_iterator(rest.begin(), rest.end(), kLinked); it != std::sregex_iterator(); ++it) {
      const auto& below = layers[folderOf[(*it)[1]]];
      allowed.insert(below.begin(), below.end());
    }
  }
  return layers;
}

}  // namespace

const Layers& layers() {
  static const Layers kLayers = readLayers();
  return kLayers;
}

std::string libraryOf(std::string_view path) {
  for (std::size_t end = path.rfind('/'); end != std::string_view::npos; end = path.rfind('/', end - 1)) {
    const std::string_view folder = path.substr(0, end);
    if (layers().contains(folder)) return std::string(folder);
    if (end == 0) break;
  }
  return {};
}

}  // namespace sluice::test
