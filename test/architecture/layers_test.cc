// Which way the arrows run. The table of folders is CMakeLists.txt itself: what a library links is what its folder may
// include.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

using Layers = std::map<std::string, std::set<std::string>>;  // folder -> folders that it may include, itself too

/// sluice_library(name folder libraries...) lines, closed over what the libraries link themselves.
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

/// Libraries that only some folders may see, whatever way their headers come in.
struct HeavyHeader {
  const char* prefix;
  std::set<std::string> folders;
};

const std::vector<HeavyHeader>& heavyHeaders() {
  static const std::vector<HeavyHeader> kHeavy = {
      {"uv.h", {"proxy/net"}},
      {"uv/", {"proxy/net"}},
      {"ares", {"proxy/net"}},
      {"openssl/ssl.h", {"proxy/net"}},
      {"openssl/", {"proxy/net", "proxy/pki"}},
      {"nghttp2/", {"proxy/http"}},
      {"yaml-cpp/", {"config"}},
      {"spdlog/", {"proxy/observe"}},
      {"re2/", {"config", "proxy/routing", "proxy/processing", "proxy/content"}},
      {"jsoncons", {"proxy/content"}},
      {"zlib.h", {"proxy/content"}},
      {"brotli/", {"proxy/content"}},
      {"zstd", {"proxy/content"}},
      {"google/protobuf/", {"filters"}},
      {"CLI/", {"proxy/server"}},
  };
  return kHeavy;
}

bool isProjectHeader(const std::string& include) {
  return include.find('/') != std::string::npos && findSource(include);
}

/// Everything that a file includes, directly or not, with the first file on the way to it.
std::map<std::string, std::string> reachedFrom(const SourceFile& file) {
  std::map<std::string, std::string> reached;
  std::vector<const SourceFile*> open = {&file};
  while (!open.empty()) {
    const SourceFile* at = open.back();
    open.pop_back();
    for (const std::string& include : includesOf(at->text)) {
      if (!reached.emplace(include, at->path).second) continue;
      if (const SourceFile* next = findSource(include)) open.push_back(next);
    }
  }
  return reached;
}

TEST(Layers, AFolderIncludesOnlyWhatStandsBelowIt) {
  const Layers layers = readLayers();
  ASSERT_GE(layers.size(), 5u);
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    const auto own = layers.find(file.folder());
    if (own == layers.end()) {
      findings.push_back(file.path + ": its folder has no sluice_library() in CMakeLists.txt");
      continue;
    }
    for (const std::string& include : includesOf(file.text)) {
      if (!isProjectHeader(include)) continue;
      const std::string folder = include.substr(0, include.rfind('/'));
      if (folder == "filters" && file.path == "proxy/server/main.cc") continue;
      if (!own->second.contains(folder)) findings.push_back(file.path + ": includes " + include);
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, TheAxiomsHold) {
  const Layers layers = readLayers();
  const auto sees = [&](const std::string& folder, const std::string& other) {
    const auto at = layers.find(folder);
    return at != layers.end() && at->second.contains(other);
  };
  EXPECT_EQ(layers.at("proxy/base").size(), 1u) << "base sees the standard library only";
  for (const char* other : {"proxy/net", "proxy/pki", "proxy/observe", "config"}) {
    EXPECT_FALSE(sees("proxy/http", other)) << "http never sees a socket: " << other;
  }
  for (const char* other : {"proxy/net", "config", "proxy/routing", "proxy/upstream", "proxy/exchange"}) {
    EXPECT_FALSE(sees("filters", other)) << "filters see only processing and content: " << other;
  }
  for (const auto& [folder, below] : layers) {
    EXPECT_TRUE(folder == "filters" || !below.contains("filters")) << "nothing but main sees filters: " << folder;
  }
}

TEST(Layers, NoIncludeCycle) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isHeader()) continue;
    const auto reached = reachedFrom(file);
    const auto self = reached.find(file.path);
    if (self != reached.end()) findings.push_back(file.path + ": is included again by " + self->second);
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, HeavyHeadersStayInTheirFolder) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    for (const auto& [include, by] : reachedFrom(file)) {
      if (findSource(include) != nullptr) continue;
      for (const HeavyHeader& heavy : heavyHeaders()) {
        if (!include.starts_with(heavy.prefix) || heavy.folders.contains(file.folder())) continue;
        findings.push_back(file.path + ": sees <" + include + "> through " + by);
      }
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, IncludesAreNamedFromTheRoot) {
  std::vector<std::string> findings;
  static const std::regex kQuoted(R"rx(^#include "([^"]+)")rx");
  for (const SourceFile& file : sourceTree()) {
    if (!file.isCpp()) continue;
    for (const std::string_view view : splitLines(file.text)) {
      const std::string line(view);
      std::smatch found;
      if (!std::regex_search(line, found, kQuoted)) continue;
      if (findSource(found[1].str()) == nullptr) findings.push_back(file.path + ": no such file: " + found[1].str());
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
