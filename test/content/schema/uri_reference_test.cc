#include "proxy/content/schema/uri_reference.h"

#include <gtest/gtest.h>

namespace sluice::content {
namespace {

std::string resolved(std::string_view base, std::string_view reference) {
  const ResolvedUri uri = resolveUri(base, reference);
  return uri.fragment.empty() ? uri.document : uri.document + "#" + uri.fragment;
}

TEST(UriReference, IsResolvedAsTheRfcsExamplesAre) {
  constexpr std::string_view kBase = "http://a/b/c/d;p?q";
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, uri] : examples) EXPECT_EQ(resolved(kBase, reference), uri) << reference;
}

TEST(UriReference, StaysAsItIsWithoutABase) {
  EXPECT_EQ(resolved("", "other.json#/a"), "other.json#/a");
  EXPECT_EQ(resolved("", "#/a"), "#/a");
  EXPECT_EQ(resolved("", ""), "");
}

TEST(UriReference, KeepsABaseThatHasNoHierarchy) {
  EXPECT_EQ(resolved("urn:uuid:dead-beef", "#/$defs/bar"), "urn:uuid:dead-beef#/$defs/bar");
  EXPECT_EQ(resolved("urn:uuid:dead-beef", "urn:uuid:beef"), "urn:uuid:beef");
  EXPECT_EQ(resolved("http://a", "b"), "http://a/b");
}

TEST(UriReference, DecodesPercentEscapes) {
  EXPECT_EQ(percentDecoded("/a%22b%25"), "/a\"b%");
  EXPECT_EQ(percentDecoded("%C3%BC"), "ü");
  EXPECT_EQ(percentDecoded("%2"), std::nullopt);
  EXPECT_EQ(percentDecoded("%zz"), std::nullopt);
}

}  // namespace
}  // namespace sluice::content
