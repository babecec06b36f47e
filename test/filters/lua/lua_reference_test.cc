// The page of the reference about scripts: its example runs, and its tables have every name that scripts can use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "test/filters/lua/lua_rig.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

using processing::Phase;

std::string luaPage() { return referencePage("processors/lua.md"); }

/// Returns the script between the first pair of lines that mark one.
std::string exampleOf(const std::string& page) {
  const std::size_t begin = page.find("```lua\n") + 7;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(LuaReference, HasAnExampleOfTenLinesThatRuns) {
  const std::string script = exampleOf(luaPage());
  EXPECT_LE(std::count(script.begin(), script.end(), '\n'), 10);
  LuaRig rig;
  ASSERT_EQ(rig.load(script), "");
  rig.request({});
  EXPECT_EQ(rig.once(Phase::kRequestBody, R"({"max_tokens": 5000, "user": "me", "model": "m"})"), "continue");
  EXPECT_EQ(rig.passed, R"({"max_tokens": 1000, "model": "m"})");
  EXPECT_THAT(rig.requestFields(), testing::StartsWith("x-digest="));
  EXPECT_EQ(rig.once(Phase::kRequestBody, "no"), "reply 400");
  EXPECT_EQ(rig.reply->body, "not JSON\n");
}

/// Returns the names of the functions and members in an array of a source.
void addNames(const std::string& file, const std::string& array, const std::string& prefix,
              std::set<std::string>& names) {
  std::ifstream in(SLUICE_SOURCE_DIR "/filters/lua/" + file);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = source.find(" " + array + "[] = {");
  ASSERT_NE(begin, std::string::npos) << file << " has no " << array;
  const std::string body = source.substr(begin, source.find("};\n", begin) - begin);
  static const std::regex kName(R"re(\{"(\w+)",)re");
  for (std::sregex_iterator each(body.begin(), body.end(), kName), end; each != end; ++each) {
    names.insert(prefix + (*each)[1].str());
  }
}

/// Returns the first word of each row of the page's tables of names, without what is between its parentheses.
std::set<std::string> namesOfPage(const std::string& section) {
  std::set<std::string> names;
  for (const PageRow& row : pageTable(pageSection(luaPage(), section), "| name | meaning |")) {
    names.insert(row[0].substr(1, row[0].find_first_of("(`", 1) - 1));
  }
  return names;
}

TEST(LuaReference, HasEveryMemberOfTheMessage) {
  std::set<std::string> names;
  addNames("message_object.cc", "kMessageMembers", "m.", names);
  addNames("message_object.cc", "kLastingMembers", "m.", names);
  addNames("message_object.cc", "kMessageMethods", "m:", names);
  addNames("message_object.cc", "kSourceMembers", "m.source.", names);
  addNames("message_object.cc", "kDestinationMembers", "m.destination.", names);
  addNames("header_object.cc", "kMethods", "m.headers:", names);
  addNames("body_object.cc", "kBody", "m.body:", names);
  addNames("body_object.cc", "kDocument", "document:", names);
  EXPECT_EQ(namesOfPage("## The message"), names);
}

TEST(LuaReference, HasEveryFunctionThatIsNotLuasOwn) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"lua(
    function request_headers(m)
      local own = {string = true, table = true, math = true, utf8 = true, _G = true}
      local names = {}
      for name, value in pairs(_G) do
        if type(value) == "table" and not own[name] then
          for inner in pairs(value) do names[#names + 1] = name .. "." .. inner end
        elseif not own[name] then
          names[#names + 1] = name
        end
      end
      m:respond(200, nil, table.concat(names, " "))
    end)lua"),
            "");
  rig.request({});
  ASSERT_EQ(rig.run(), "reply 200");
  static const std::set<std::string> kOfLua = {"assert",   "error",  "getmetatable", "ipairs",         "next",
                                               "pairs",    "pcall",  "rawequal",     "rawget",         "rawlen",
                                               "rawset",   "select", "setmetatable", "type",           "tonumber",
                                               "tostring", "xpcall", "_VERSION",     "request_headers"};
  std::set<std::string> names;
  std::istringstream words(*rig.reply->body);
  for (std::string word; words >> word;) {
    if (!kOfLua.contains(word)) names.insert(word);
  }
  EXPECT_EQ(namesOfPage("## Libraries"), names);
}

}  // namespace
}  // namespace sluice::test
