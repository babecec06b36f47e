#include "proxy/http/target.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {
namespace {

std::string normalTarget(std::string_view target, SlashRules rules = {}) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  auto result = normalizeTarget(arena, target, rules);
  if (!result) return "refused " + std::to_string(result.error().status);
  const std::string text(result->text);
  const std::string path = text.substr(0, text.find('?'));
  EXPECT_EQ(result->unusualSlashes, path.find("//") != path.npos || path.find("%2F") != path.npos) << target;
  return text;
}

TEST(Target, HasOneNormalForm) {
  const struct {
    std::string_view sent;
    std::string_view normal;
  } kCases[] = {
      {"/", "/"},
      {"/a/b?c=d", "/a/b?c=d"},
      {"/?", "/?"},
      {"//admin", "/admin"},
      {"/a///b//", "/a/b/"},
      {"/a/./b", "/a/b"},
      {"/a/../admin", "/admin"},
      {"/a/b/..", "/a/"},
      {"/a/b/.", "/a/b/"},
      {"/.", "/"},
      {"/a/..", "/"},
      {"/a/%2e%2e/admin", "/admin"},
      {"/a/.%2E/admin", "/admin"},
      {"/a//../b", "/b"},
      {"/%61dmin", "/admin"},
      {"/%7Euser/%2d", "/~user/-"},
      {"/a%3fb", "/a%3Fb"},
      {"/a%c3%a9", "/a%C3%A9"},
      {"/%252e%252e/x", "/%252e%252e/x"},
      {"/...", "/..."},
      {"/.well-known/x", "/.well-known/x"},
      {"/a;x=1/b;y", "/a;x=1/b;y"},
      {"/a?b=/../c&d=%2f%00", "/a?b=/../c&d=%2f%00"},
      {"/a/..?x", "/?x"},
      {"/%20", "/%20"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(normalTarget(c.sent), c.normal) << c.sent;
    EXPECT_EQ(normalTarget(c.normal), c.normal) << "not stable: " << c.sent;
  }
}

TEST(Target, SaysWhetherItHadDotSegments) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto had = [&arena](std::string_view sent) {
    return normalizeTarget(arena, sent, kAnySlashes)->hadDotSegments;
  };
  for (const char* sent : {"/.", "/a/./b", "/a/..", "/a/%2e%2E/b", "/a/.%2e", "/%2e?x"}) EXPECT_TRUE(had(sent)) << sent;
  for (const char* sent : {"/", "/...", "/.a/b", "/%2e%2e%2e", "/%252e", "/a?/../", "/a//b"}) {
    EXPECT_FALSE(had(sent)) << sent;
  }
}

TEST(Target, IsRefusedWhereServersDisagree) {
  for (const std::string_view sent :
       {"",       "a",      "?x",       "/..",        "/../admin",  "/a/../../admin", "/%2e%2e/admin", "/a%2fb",
        "/a%2Fb", "/a%5cb", "/a\\b",    "/a%00",      "/a%0a",      "/a%7f",          "/a%1F",         "/a#b",
        "/a?b#c", "/a%",    "/a%2",     "/a%2?x",     "/a%zz",      "/a b",           "/a\tb",         "/a\x80",
        "/a\x7f", "/a?b c", "/a?b\xff", "/..;/admin", "/.;x/admin", "/a/..;x",        "/a/%2e%2e;/b"}) {
    EXPECT_EQ(normalTarget(sent), "refused 400") << sent;
  }
}

TEST(Target, NamesTheSettingThatRefusesAnEncodedSlash) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const auto detailFor = [&arena](std::string_view sent) { return normalizeTarget(arena, sent).error().detail; };
  EXPECT_NE(detailFor("/a%2Fb").find("paths.encodedSlash"), std::string::npos);
  EXPECT_EQ(detailFor("/a%5Cb").find("paths.encodedSlash"), std::string::npos);
}

TEST(Target, KeepsEmptySegmentsIfSlashesAreNotMerged) {
  const struct {
    std::string_view sent;
    std::string_view normal;
  } kCases[] = {{"//", "//"},
                {"/bucket//key", "/bucket//key"},
                {"//admin", "//admin"},
                {"/a//../b", "/a/b"},
                {"/a//..", "/a/"},
                {"//..", "/"},
                {"/a/.//b", "/a//b"},
                {"/a//./b", "/a//b"},
                {"/a///", "/a///"},
                {"/a//b?c=//d", "/a//b?c=//d"},
                {"/a/..//b", "//b"},
                {"//../..", "refused 400"},
                {"/..//", "refused 400"}};
  for (const auto& c : kCases) {
    EXPECT_EQ(normalTarget(c.sent, {EncodedSlash::kReject, false}), c.normal) << c.sent;
  }
}

TEST(Target, TreatsEncodedSlashesByItsRules) {
  const struct {
    std::string_view sent;
    std::string_view kept;
    std::string_view decoded;
  } kCases[] = {{"/@scope%2fname", "/@scope%2Fname", "/@scope/name"},
                {"/projects/a%2Fb/files", "/projects/a%2Fb/files", "/projects/a/b/files"},
                {"/a%2f", "/a%2F", "/a/"},
                {"/%2f%2F", "/%2F%2F", "/"},
                {"/a/%2e%2f", "refused 400", "/a/"},
                {"/a%2f..%2fadmin", "refused 400", "/admin"},
                {"/a/..%2fadmin", "refused 400", "/admin"},
                {"/..%2fadmin", "refused 400", "refused 400"},
                {"/a%2f..;x/b", "refused 400", "refused 400"},
                {"/a%2f...", "/a%2F...", "/a/..."},
                {"/a%252fb", "/a%252fb", "/a%252fb"},
                {"/a%5cb", "refused 400", "refused 400"}};
  for (const auto& c : kCases) {
    EXPECT_EQ(normalTarget(c.sent, kAnySlashes), c.kept) << c.sent;
    EXPECT_EQ(normalTarget(c.sent, {EncodedSlash::kDecode, true}), c.decoded) << c.sent;
    EXPECT_EQ(normalTarget(c.sent), c.sent.find("%252f") != c.sent.npos ? c.sent : "refused 400") << c.sent;
  }
}

// Every short path over the alphabet of tricks: the normal form is a fixed point, and no other server would normalise
// it further.
void expectFixedPoints(SlashRules rules, const std::vector<std::string_view>& never) {
  const std::string_view pieces[] = {"/", ".", "..", "a", ";", "%2e", "%2f", "%", "25", "%41", "%c0%ae", "\\", "%3b"};
  constexpr std::size_t kCount = std::size(pieces);
  constexpr int kLength = 5;
  for (std::size_t number = 0; number < kCount * kCount * kCount * kCount * kCount; ++number) {
    std::string path = "/";
    std::size_t rest = number;
    for (int i = 0; i < kLength; ++i, rest /= kCount) path += pieces[rest % kCount];
    const std::string once = normalTarget(path, rules);
    if (once.starts_with("refused")) continue;
    ASSERT_EQ(normalTarget(once, rules), once) << path;
    ASSERT_LE(once.size(), path.size()) << path;
    for (const std::string_view bad : never) {
      ASSERT_EQ(once.find(bad), std::string::npos) << path << " became " << once;
    }
    ASSERT_FALSE(once.ends_with("/.") || once.ends_with("/..")) << path;
  }
}

TEST(Target, TheNormalFormIsAFixedPoint) {
  expectFixedPoints({}, {"//", "/./", "/../", "/.;", "/..;", "%2E", "%2F", "%41", "\\"});
  expectFixedPoints({EncodedSlash::kDecode, true}, {"//", "/./", "/../", "/.;", "/..;", "%2E", "%2F", "%41", "\\"});
  expectFixedPoints(kAnySlashes, {"/./", "/../", "/.;", "/..;", "%2F..%2F", "%2F../", "/..%2F", "%2E", "%41", "\\"});
}

TEST(Target, MayDoWithoutThePathParameters) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"/a/b", "/a/b"},        {"/a;v=1", "/a"},   {"/a;v=1/b;w;x/", "/a/b/"}, {"/a;", "/a"},
      {"/a/;v=1", "/a/"},      {"/;v=1", "/"},     {"/;v=1/admin", "/admin"},  {"/a/;v=1/b", "/a/b"},
      {"/a/;v=1/;w=2", "/a/"}, {"//a;v=1", "//a"}, {"/a%3Bv=1", "/a%3Bv=1"},   {"*", "*"},
      {"/a;%2Fb/c", "/a/c"},   {"", ""},
  };
  for (const auto& [path, without] : cases) {
    std::string room;
    EXPECT_EQ(withoutPathParameters(path, room), without) << path;
  }
}

TEST(Target, IsNotCopiedIfItIsNormal) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const std::string_view target = "/v1/chat/completions?stream=true";
  EXPECT_EQ(normalizeTarget(arena, target)->text.data(), target.data());
}

}  // namespace
}  // namespace sluice::http
