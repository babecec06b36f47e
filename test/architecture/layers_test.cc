// A library may include the headers of the libraries that it links in CMakeLists.txt, and no others.
#include "test/architecture/layers.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

/// Headers of dependencies that only some libraries may see, directly or through other headers.
struct HeavyHeader {
  const char* prefix;
  std::set<std::string> libraries;
};

const std::vector<HeavyHeader>& heavyHeaders() {
  static const std::vector<HeavyHeader> kHeavy = {
      {"uv.h", {"proxy/net"}},
      {"uv/", {"proxy/net"}},
      {"ares", {"proxy/net"}},
      {"openssl/ssl.h", {"proxy/net"}},
      {"openssl/", {"proxy/net", "proxy/pki"}},
      {"crypt.h", {"proxy/pki"}},
      {"nghttp2/", {"proxy/http"}},
      {"yaml-cpp/", {"config"}},
      {"spdlog/", {"proxy/observe"}},
      {"re2/", {"config", "filters", "proxy/routing", "proxy/processing", "proxy/content"}},
      {"zlib.h", {"proxy/content"}},
      {"brotli/", {"proxy/content"}},
      {"zstd", {"proxy/content"}},
      {"google/protobuf/", {"filters"}},
      {"lua.hpp", {"filters"}},
      {"CLI/", {"proxy/server"}},
  };
  return kHeavy;
}

bool isProjectHeader(const std::string& include) {
  return include.find('/') != std::string::npos && findSource(include);
}

/// Returns every header that the file includes, directly or not, each with the file that includes it.
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

/// Other libraries use only the headers in kForOthers: clusters, pools and connections are private to upstream.
TEST(Layers, RequestsToBackendsAreMadeInOneWay) {
  static const std::set<std::string> kForOthers = {
      "proxy/upstream/async_request.h", "proxy/upstream/places/circuit_breaker.h",
      "proxy/upstream/dial/dialer.h",   "proxy/upstream/dial/failed_addresses.h",
      "proxy/upstream/request.h",       "proxy/upstream/upstreams.h"};
  static const std::regex kInside(
      R"(\bupstream::(Cluster|Pool|Pins|Connection)\b|\bupstreams(_->|\(\)\.)(cluster|pins|find)\()");
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct() || file.startsWith("proxy/upstream/")) continue;
    for (const std::string& include : includesOf(file.text)) {
      if (include.starts_with("proxy/upstream/") && !kForOthers.contains(include)) {
        findings.push_back(file.path + ": includes " + include);
      }
    }
    const std::string code = codeOnly(file.text);
    if (std::regex_search(code, kInside)) findings.push_back(file.path + ": goes past upstream::Request");
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, ALibraryIncludesOnlyTheLibrariesThatItLinks) {
  ASSERT_GE(layers().size(), 5u);
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    const std::string own = libraryOf(file.path);
    if (own.empty()) {
      findings.push_back(file.path + ": is below no folder of a sluice_library() in CMakeLists.txt");
      continue;
    }
    for (const std::string& include : includesOf(file.text)) {
      if (!isProjectHeader(include)) continue;
      const std::string library = libraryOf(include);
      if (library == "filters" && file.path == "proxy/server/main.cc") continue;
      if (!layers().at(own).contains(library)) findings.push_back(file.path + ": includes " + include);
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, BaseHttpAndFiltersStayIndependent) {
  const auto sees = [](const std::string& library, const std::string& other) {
    return layers().at(library).contains(other);
  };
  EXPECT_EQ(layers().at("proxy/base").size(), 1u) << "base sees the standard library only";
  for (const char* other : {"proxy/net", "proxy/pki", "proxy/observe"}) {
    EXPECT_FALSE(sees("proxy/http", other)) << "http never sees a socket: " << other;
  }
  for (const char* other : {"proxy/net", "proxy/routing", "proxy/upstream", "proxy/exchange"}) {
    EXPECT_FALSE(sees("filters", other)) << "filters see only processing and content: " << other;
  }
  for (const auto& [library, below] : layers()) {
    EXPECT_TRUE(library == "filters" || !below.contains("filters")) << "nothing but main sees filters: " << library;
  }
}

// The data plane works on compiled snapshots and never reads configuration objects.
TEST(Layers, TheDataPlaneSeesNothingOfTheControlPlane) {
  std::vector<std::string> findings;
  for (const char* library : {"proxy/net", "proxy/http", "proxy/processing", "filters", "proxy/routing",
                              "proxy/upstream", "proxy/exchange"}) {
    for (const SourceFile& file : sourceTree()) {
      if (!file.isProduct() || libraryOf(file.path) != library) continue;
      for (const auto& [include, by] : reachedFrom(file)) {
        const auto reached = layers().find(libraryOf(include));
        if (reached != layers().end() && reached->second.contains("config"))
          findings.push_back(file.path + ": sees " + include + " through " + by);
      }
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

/// Maps each place of files to the places whose headers its files include.
using Needs = std::map<std::string, std::set<std::string>>;

Needs needsOf(std::string (*placeOf)(const std::string& path)) {
  Needs needs;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    for (const std::string& include : includesOf(file.text)) {
      if (isProjectHeader(include) && placeOf(include) != placeOf(file.path))
        needs[placeOf(file.path)].insert(placeOf(include));
    }
  }
  return needs;
}

/// Returns a line for each place that is on a cycle, or needs one that is.
std::vector<std::string> circlesOf(Needs needs) {
  for (bool gone = true; gone;) {
    gone = false;
    for (auto place = needs.begin(); place != needs.end();) {
      std::erase_if(place->second, [&](const std::string& other) { return !needs.contains(other); });
      gone = gone || place->second.empty();
      place = place->second.empty() ? needs.erase(place) : std::next(place);
    }
  }
  std::vector<std::string> findings;
  for (const auto& [place, others] : needs) findings.push_back(place + " needs " + *others.begin());
  return findings;
}

/// Returns the path without its extension, which a header shares with its source. A pair needs the headers that either
/// of its files includes.
std::string pairOf(const std::string& path) { return path.substr(0, path.rfind('.')); }
std::string folderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

TEST(Layers, NoCycleBetweenPairsOfHeaderAndSource) {
  const Needs needs = needsOf(pairOf);
  ASSERT_GT(needs.size(), 100u);
  const std::vector<std::string> findings = circlesOf(needs);
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, NoCircleOfFolders) {
  const Needs needs = needsOf(folderOf);
  ASSERT_GT(needs.size(), 50u);
  const std::vector<std::string> findings = circlesOf(needs);
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Layers, ACircleIsFound) {
  EXPECT_EQ(circlesOf({{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"a"}}}).size(), 3u);
  EXPECT_TRUE(circlesOf({{"a", {"b", "c"}}, {"b", {"c"}}}).empty());
}

TEST(Layers, HeavyHeadersStayInTheirLibrary) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.isProduct()) continue;
    for (const auto& [include, by] : reachedFrom(file)) {
      if (findSource(include) != nullptr) continue;
      for (const HeavyHeader& heavy : heavyHeaders()) {
        if (!include.starts_with(heavy.prefix) || heavy.libraries.contains(libraryOf(file.path))) continue;
        findings.push_back(file.path + ": sees <" + include + "> through " + by);
      }
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

/// Returns the file in the tree that a header is generated from, or the header itself.
std::string sourceOf(const std::string& include) {
  constexpr std::string_view kGenerated = ".pb.h";
  if (!include.ends_with(kGenerated)) return include;
  return include.substr(0, include.size() - kGenerated.size()) + ".proto";
}

TEST(Layers, IncludesAreNamedFromTheRoot) {
  std::vector<std::string> findings;
  static const std::regex kQuoted(R"rx(^#include "([^"]+)")rx");
  for (const SourceFile& file : sourceTree()) {
    // An example of a library is built as its user builds it, outside of the tree.
    if (!file.isCpp() || file.startsWith("examples/")) continue;
    for (const std::string_view view : splitLines(file.text)) {
      const std::string line(view);
      std::smatch found;
      if (!std::regex_search(line, found, kQuoted)) continue;
      if (findSource(sourceOf(found[1].str())) == nullptr)
        findings.push_back(file.path + ": no such file: " + found[1].str());
    }
  }
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

}  // namespace
}  // namespace sluice::test
