// Compares the user's page about libraries with the header of the interface, and runs the library that it shows.
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "test/filters/library/library_fixture.h"
#include "test/support/reference_page.h"

namespace sluice::filters {
namespace {

std::string page() { return test::referencePage("processors/library.md"); }

std::string header() {
  std::ifstream in(SLUICE_SOURCE_DIR "/filters/library/sluice_processor.h");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the part of the header between two texts.
std::string partOf(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  return text.substr(begin, text.find(to, begin) - begin);
}

std::set<std::string> wordsIn(const std::string& text, const std::string& pattern) {
  std::set<std::string> names;
  const std::regex expression(pattern);
  for (std::sregex_iterator each(text.begin(), text.end(), expression); each != std::sregex_iterator(); ++each) {
    names.insert((*each)[1].str());
  }
  return names;
}

std::set<std::string> namesIn(const std::string& head) {
  std::set<std::string> names;
  for (const test::PageRow& row : test::pageTable(page(), head)) {
    for (const std::string& name : test::quotedWords(row[0])) EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(row[1].empty()) << row[0];
  }
  return names;
}

TEST(LibraryPage, HasEveryMemberOfTheInterface) {
  const std::string members = R"(\(\*(\w+)\)\()";
  const std::string host = partOf(header(), "struct sluice_host {", "\n};");
  EXPECT_EQ(namesIn("| member of `sluice_host` | meaning |"), wordsIn(host, members));
  const std::string own = partOf(header(), "struct sluice_processor {", "\n};");
  std::set<std::string> ofLibrary = wordsIn(own, members);
  ofLibrary.insert("phases");
  EXPECT_EQ(namesIn("| member of `sluice_processor` | meaning |"), ofLibrary);
  const auto words = [](const std::string& name) {
    return wordsIn(partOf(header(), "enum " + name + " {", "\n};"), R"((SLUICE_\w+) = )");
  };
  EXPECT_EQ(namesIn("| verdict | meaning |"), words("sluice_verdict"));
  EXPECT_EQ(namesIn("| form | the library is called |"), words("sluice_body"));
}

TEST(LibraryPage, HasALibraryThatRuns) {
  const std::string section = test::pageSection(page(), "## A library in ten lines");
  const std::string code = partOf(section, "#include", "```");
  EXPECT_LE(std::count(code.begin(), code.end(), '\n'), 12) << "it is said to have ten lines";
  const OwnLibraries folder;
  std::ofstream(folder.at("hello.c")) << code;
  const std::string command = "cc -std=c99 -pedantic -Wall -Werror -shared -fPIC -I '" SLUICE_SOURCE_DIR
                              "/filters/library' -o '" +
                              folder.at("hello.so").string() + "' '" + folder.at("hello.c").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << "the header is for C too";
  LibraryRig library(folder.path());
  library.file("hello.so");
  library.rig.request({});
  EXPECT_EQ(library.run("anything").kind(), processing::Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-hello=world;");
}

}  // namespace
}  // namespace sluice::filters
