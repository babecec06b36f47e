#include "proxy/server/page/page_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "test/server/admin_rig.h"

namespace sluice::server {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string assetOf(const PageFile& file) {
  const std::string name = file.path == "/" ? "page.html" : std::string(file.path.substr(std::string("/page/").size()));
  std::ifstream in(SLUICE_SOURCE_DIR "/proxy/server/page/assets/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(PageFiles, AreThoseOfTheFolder) {
  for (const PageFile& file : pageFiles()) {
    EXPECT_FALSE(file.text.empty()) << file.path;
    EXPECT_EQ(file.text, assetOf(file)) << file.path;
  }
}

TEST(PageFiles, NeedNoScriptOrStyleInTheDocumentAndNoOtherServer) {
  const std::regex forbidden(
      R"re(<script>|<style| style=| on[a-z]+="|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function)re"
      R"re(|(src|href)="(https?:|//)|url\(|@import)re");
  for (const PageFile& file : pageFiles()) {
    std::smatch found;
    const std::string text(file.text);
    EXPECT_FALSE(std::regex_search(text, found, forbidden)) << file.path << ": " << found.str();
  }
}

class PageOnAPort : public AdminRig {
 protected:
  PageOnAPort() { addPageFiles(pages_); }
  std::string get(const std::string& path, const std::string& accept, std::string_view mark) {
    return ask(connect(), "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + accept + "\r\n", mark);
  }
};

TEST_F(PageOnAPort, IsForBrowsersAndTheListForOthers) {
  const std::string page = get("/", "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n", "</html>\n");
  EXPECT_THAT(page, HasSubstr("content-type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"page/page.js\">"));
  for (const std::string accept : {"", "Accept: */*\r\n", "Accept: application/json\r\n"}) {
    const std::string list = get("/", accept, "POST /act\n");
    EXPECT_THAT(list, HasSubstr("content-type: text/plain; charset=utf-8\r\n")) << accept;
    EXPECT_THAT(list, HasSubstr("GET /page/page.js\n")) << accept;
  }
}

TEST_F(PageOnAPort, GivesBrowsersRulesWithEveryAnswer) {
  for (const auto& [path, mark] : {std::pair("/page/words.js", "// --- pictures"), std::pair("/hello", "hello\n"),
                                   std::pair("/no-such-page", "POST /act\n")}) {
    const std::string answer = get(path, "", mark);
    EXPECT_THAT(answer, HasSubstr("content-security-policy: default-src 'self'; ")) << path;
    EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'")) << path;
    EXPECT_THAT(answer, Not(HasSubstr("unsafe-"))) << path;
    EXPECT_THAT(answer, HasSubstr("referrer-policy: no-referrer\r\n")) << path;
    EXPECT_THAT(answer, HasSubstr("x-content-type-options: nosniff\r\n")) << path;
  }
}

TEST_F(PageOnAPort, IsRefusedUnderTheNameOfAnotherSite) {
  const std::string answer =
      ask(connect(), "GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: text/html\r\n\r\n", "not served here\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
}

}  // namespace
}  // namespace sluice::server
