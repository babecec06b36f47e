#include "proxy/http/target.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

namespace sluice::http {
namespace {

std::string normalTarget(std::string_view target) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  auto result = normalizeTarget(arena, target);
  return result ? std::string(*result) : "refused " + std::to_string(result.error().status);
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

TEST(Target, IsRefusedWhereServersDisagree) {
  for (const std::string_view sent :
       {"",       "a",      "?x",       "/..",        "/../admin",  "/a/../../admin", "/%2e%2e/admin", "/a%2fb",
        "/a%2Fb", "/a%5cb", "/a\\b",    "/a%00",      "/a%0a",      "/a%7f",          "/a%1F",         "/a#b",
        "/a?b#c", "/a%",    "/a%2",     "/a%2?x",     "/a%zz",      "/a b",           "/a\tb",         "/a\x80",
        "/a\x7f", "/a?b c", "/a?b\xff", "/..;/admin", "/.;x/admin", "/a/..;x",        "/a/%2e%2e;/b"}) {
    EXPECT_EQ(normalTarget(sent), "refused 400") << sent;
  }
}

// Every short path over the alphabet of tricks: the normal form is a fixed point, and no other server would normalise
// it further.
TEST(Target, TheNormalFormIsAFixedPoint) {
  const std::string_view pieces[] = {"/", ".", "..", "a", ";", "%2e", "%2E", "%", "25", "%41", "%c0%ae", "\\", "%3b"};
  constexpr std::size_t kCount = std::size(pieces);
  constexpr int kLength = 5;
  for (std::size_t number = 0; number < kCount * kCount * kCount * kCount * kCount; ++number) {
    std::string path = "/";
    std::size_t rest = number;
    for (int i = 0; i < kLength; ++i, rest /= kCount) path += pieces[rest % kCount];
    const std::string once = normalTarget(path);
    if (once.starts_with("refused")) continue;
    ASSERT_EQ(normalTarget(once), once) << path;
    ASSERT_LE(once.size(), path.size()) << path;
    for (const std::string_view bad : {"//", "/./", "/../", "/.;", "/..;", "%2E", "%2F", "%41", "\\"}) {
      ASSERT_EQ(once.find(bad), std::string::npos) << path << " became " << once;
    }
    ASSERT_FALSE(once.ends_with("/.") || once.ends_with("/..")) << path;
  }
}

TEST(Target, IsNotCopiedIfItIsNormal) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  const std::string_view target = "/v1/chat/completions?stream=true";
  EXPECT_EQ(normalizeTarget(arena, target)->data(), target.data());
}

}  // namespace
}  // namespace sluice::http
