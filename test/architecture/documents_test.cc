// Documents name files that exist, so that a reader finds them after every renaming.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "test/architecture/tree.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

/// Returns the words between backticks that are names of source files, with or without folders.
std::vector<std::string> filesNamedIn(std::string_view line) {
  static const std::regex kQuoted("`([^`]+)`");
  static const std::regex kFile(R"([\w./-]+\.(h|cc|md|py|sh|mjs|txt))");
  static const std::regex kWord(R"([^\s,;]+)");
  std::vector<std::string> files;
  const std::string text(line);
  for (auto quoted = std::sregex_iterator(text.begin(), text.end(), kQuoted); quoted != std::sregex_iterator();
       ++quoted) {
    const std::string words = (*quoted)[1];
    for (auto word = std::sregex_iterator(words.begin(), words.end(), kWord); word != std::sregex_iterator(); ++word) {
      if (std::regex_match(word->str(), kFile)) files.push_back(word->str());
    }
  }
  return files;
}

bool exists(const std::string& name) {
  return std::any_of(sourceTree().begin(), sourceTree().end(),
                     [&name](const SourceFile& file) { return file.path == name || file.path.ends_with("/" + name); });
}

TEST(Documents, NameFilesThatExist) {
  std::size_t count = 0;
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.endsWith(".md")) continue;
    std::size_t number = 0;
    for (const std::string_view line : splitLines(file.text)) {
      ++number;
      for (const std::string& name : filesNamedIn(line)) {
        ++count;
        if (!exists(name)) findings.push_back(file.path + ":" + std::to_string(number) + ": no such file: " + name);
      }
    }
  }
  ASSERT_GT(count, 50u);
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

/// Returns where the links of a text lead to within the tree, as they are written: "page.md", "page.md#a-heading" or
/// "#a-heading".
std::vector<std::string> linksIn(std::string_view page) {
  static const std::regex kLink(R"(\]\(([^):]+)\))");
  const std::string text(page);
  std::vector<std::string> files;
  for (auto link = std::sregex_iterator(text.begin(), text.end(), kLink); link != std::sregex_iterator(); ++link) {
    files.push_back((*link)[1]);
  }
  return files;
}

const SourceFile& fileAt(std::string_view path) {
  return *std::find_if(sourceTree().begin(), sourceTree().end(),
                       [path](const SourceFile& file) { return file.path == path; });
}

/// Returns the anchors of the page's headings, as GitHub makes them: "## Pods of `Gateways`" has "pods-of-gateways".
std::set<std::string> anchorsOf(std::string_view page) {
  std::set<std::string> anchors;
  bool inCode = false;
  for (const std::string_view line : splitLines(page)) {
    if (line.starts_with("```")) inCode = !inCode;
    const std::size_t title = line.find_first_not_of('#');
    if (inCode || title == 0 || title == std::string_view::npos || line[title] != ' ') continue;
    std::string anchor;
    for (const char each : line.substr(title + 1)) {
      const auto c = static_cast<unsigned char>(each);
      if (c == ' ') anchor += '-';
      if (std::isalnum(c) || c == '-' || c == '_') anchor += static_cast<char>(std::tolower(c));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Documents, HaveLinksThatLeadToAFileAndItsHeading) {
  std::size_t count = 0;
  std::vector<std::string> findings;
  for (const SourceFile& file : sourceTree()) {
    if (!file.endsWith(".md")) continue;
    for (const std::string& link : linksIn(file.text)) {
      ++count;
      const std::size_t hash = std::min(link.find('#'), link.size());
      const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
      const std::string path = hash == 0 ? file.path : (folder / link.substr(0, hash)).lexically_normal().string();
      const SourceFile* target = findSource(path);
      // Pictures are no texts, so they are not in the tree.
      if (target == nullptr && std::filesystem::is_regular_file(SLUICE_SOURCE_DIR "/" + path)) continue;
      if (target == nullptr || (hash < link.size() && !anchorsOf(target->text).contains(link.substr(hash + 1)))) {
        findings.push_back(file.path + ": " + link);
      }
    }
  }
  ASSERT_GT(count, 50u);
  EXPECT_TRUE(findings.empty()) << listed(findings);
}

TEST(Documents, HaveAnAnchorForEachHeading) {
  EXPECT_THAT(anchorsOf("# One\n## Pods of `a.b/C:v1`\n```\n# not this\n```\n#nor this\ntext\n### It's, again\n"),
              ElementsAre("its-again", "one", "pods-of-abcv1"));
}

TEST(Documents, TheReadmeLeadsToEveryPageOfTheReference) {
  const std::vector<std::string> links = linksIn(fileAt("README.md").text);
  for (const std::string& link : links) EXPECT_TRUE(exists(link)) << link;
  std::vector<std::string> pages;
  for (const SourceFile& file : sourceTree()) {
    if (file.startsWith("config/reference/") && file.endsWith(".md")) pages.push_back(file.path);
  }
  EXPECT_THAT(links, UnorderedElementsAreArray(pages));
}

TEST(Documents, TheReadmeIsShort) {
  std::istringstream words(fileAt("README.md").text);
  EXPECT_LT(std::distance(std::istream_iterator<std::string>(words), {}), 900);
}

TEST(Documents, NameFilesBetweenBackticks) {
  EXPECT_THAT(filesNamedIn("`proxy/net/tcp.h` and `cluster.cc`, not tcp.cc"),
              ElementsAre("proxy/net/tcp.h", "cluster.cc"));
  EXPECT_THAT(filesNamedIn("`test/run.sh --keep`"), ElementsAre("test/run.sh"));
  EXPECT_THAT(filesNamedIn("`filters/<name>.h`, `Worker::post()`, `0.5`, `settings.yaml`"), IsEmpty());
}

}  // namespace
}  // namespace sluice::test
