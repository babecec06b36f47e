#include "config/load/revision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config/load/text_cache.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::MatchesRegex;

std::string revision(const std::vector<SourceText>& texts, const std::string& key = "key") {
  const Configuration configuration = loadTexts(texts, base::Secret(key));
  EXPECT_TRUE(configuration.readable) << ::testing::PrintToString(rendered(configuration.problems));
  return configuration.revision;
}
std::string revision(const std::string& text, const std::string& key = "key") {
  return revision(std::vector<SourceText>{{"a.yaml", text}}, key);
}

const std::string kMap = object("v1", "ConfigMap", "a", "data: {k: v, l: w}\n");
const std::string kOther = object("v1", "ConfigMap", "b", "data: {k: v}\n");
const std::string kSecret = object("v1", "Secret", "s", "stringData: {token: hunter2}\n");

std::string withMeta(const std::string& metadata) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a" + metadata + "}\ndata: {k: v}\n";
}
std::string withData(const std::string& data) { return object("v1", "ConfigMap", "a", "data: " + data + "\n"); }

TEST(Revision, IsTwelveHexDigits) {
  EXPECT_THAT(revision(kMap), MatchesRegex("[0-9a-f]{12}"));
  EXPECT_THAT(revision(""), MatchesRegex("[0-9a-f]{12}"));
}

TEST(Revision, IsEqualForEqualSetsInEveryProcessUnlessTheyHoldSecrets) {
  EXPECT_EQ(revision(kMap, "one"), revision(kMap, "two"));
  EXPECT_NE(revision(kMap + "---\n" + kSecret, "one"), revision(kMap + "---\n" + kSecret, "two"));
}

TEST(Revision, DoesNotDependOnHowValuesAreWritten) {
  const std::string expected = revision(kMap);
  for (const char* same : {
           "# a comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a  # that one\ndata:\n  k: v\n  l: w\n",
           "---\n---\ndata: {l: 'w', k: \"v\"}\nmetadata: {name: a}\nkind: ConfigMap\napiVersion: v1\n---\n",
           R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v", "l": "w"}})",
       }) {
    EXPECT_EQ(revision(same), expected) << same;
  }
  EXPECT_EQ(revision(withData("{k: \"a\\nb\\n\"}")), revision(withData("\n  k: |\n    a\n    b\n")));
}

TEST(Revision, DoesNotDependOnFilesNorOnTheOrderOfObjects) {
  const std::string expected = revision(kMap + "---\n" + kOther);
  EXPECT_EQ(revision(kOther + "---\n" + kMap), expected);
  EXPECT_EQ(revision({{"b.yaml", kOther}, {"a.yaml", kMap}}), expected);
  EXPECT_EQ(revision({{"x/y.yml", kMap}, {"z.json", kOther}}), expected);
  EXPECT_EQ(revision("apiVersion: v1\nkind: List\nmetadata: {resourceVersion: '7'}\nitems:\n"
                     "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {k: v}}\n"
                     "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {l: w, k: v}}\n"),
            expected);
}

TEST(Revision, DependsOnWhichOfTwoDefinitionsComesFirst) {
  const std::string changed = object("v1", "ConfigMap", "a", "data: {k: x}\n");
  const std::string inDefault = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
  EXPECT_NE(revision(kMap + "---\n" + changed), revision(changed + "---\n" + kMap));
  EXPECT_NE(revision(kMap + "---\n" + inDefault), revision(inDefault + "---\n" + kMap));
}

TEST(Revision, LeavesOutFieldsThatTheApiServerWrites) {
  const std::string expected = revision(withMeta(""));
  EXPECT_EQ(revision(withMeta("") + "status: {conditions: [{type: Accepted}]}\n"), expected);
  for (const char* field :
       {"generation: 7", "resourceVersion: '12'", "uid: u-1", "managedFields: [{manager: m, operation: Apply}]",
        "finalizers: [f]", "ownerReferences: []", "selfLink: /a", "deletionGracePeriodSeconds: 3"}) {
    EXPECT_EQ(revision(withMeta(std::string(", ") + field)), expected) << field;
  }
  for (const char* field : {"labels: {a: b}", "annotations: {a: b}", "namespace: other",
                            "creationTimestamp: '2026-01-02T03:04:05Z'", "lables: {a: b}"}) {
    EXPECT_NE(revision(withMeta(std::string(", ") + field)), expected) << field;
  }
  // Members with these names below the top level of an object are data, so the digest covers them.
  EXPECT_NE(revision(withData("{status: '1'}")), revision(withData("{status: '2'}")));
  EXPECT_NE(revision(withData("{generation: '1'}")), revision(withData("{generation: '2'}")));
}

TEST(Revision, IsTheBeginningOfADigest) {
  for (const std::string& text : {kMap, std::string("{")}) {
    const Configuration configuration = loadText(text);
    EXPECT_THAT(configuration.digest, MatchesRegex("[0-9a-f]{64}")) << text;
    EXPECT_THAT(configuration.revision, MatchesRegex("[0-9a-f]{12}"));
    EXPECT_EQ(configuration.digest.substr(0, 12), configuration.revision);
  }
}

TEST(Revision, LeavesOutEndpointSlices) {
  const std::string slice = "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\n";
  EXPECT_EQ(revision(kMap + "---\n" + slice + "endpoints: []\n"), revision(kMap));
  EXPECT_NE(revision(kMap + "---\napiVersion: v1\nkind: EndpointSlice\nmetadata: {name: a}\n"), revision(kMap));
}

TEST(Revision, IsAccompaniedByADigestOfEndpointSlices) {
  const auto digest = [](const std::string& text) { return loadText(text).endpointsDigest; };
  const std::string slice =
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a, resourceVersion: '1'}\naddressType: "
      "IPv4\n";
  const std::string none = slice + "endpoints: []\n";
  const std::string one = slice + "endpoints: [{addresses: [10.0.0.1]}]\n";
  EXPECT_NE(digest(kMap + "---\n" + one), digest(kMap + "---\n" + none));
  EXPECT_NE(digest(kMap + "---\n" + none), digest(kMap));
  EXPECT_EQ(digest(kMap + "---\n" + one), digest(one)) << "nothing else is in it";
}

TEST(Revision, ChangesWithEveryValueTypeAndPosition) {
  // Each is the `data` of one object. All trees differ, but many of them have the same text when concatenated.
  const std::vector<std::string> trees = {
      "{}",
      "null",
      "[]",
      "''",
      "'null'",
      "'1'",
      "1",
      "1.0",
      "'true'",
      "true",
      "false",
      "[1]",
      "[[1]]",
      "[1, 2]",
      "[12]",
      "[[1], 2]",
      "[[1, 2]]",
      "{a: b}",
      "{a: {b: c}}",
      "{a: b, c: d}",
      "{a: d, c: b}",
      "{ab: ''}",
      "{a: ''}",
      "{a: null}",
      "{a: []}",
      "{a: {}}",
      "{a: 1}",
      "{a: '1'}",
      "{a: true}",
      "{a: 'true'}",
      "{a: b, b: ''}",
      "{a: [b, c]}",
      "{a: [bc]}",
      "{a: [c, b]}",
      "{'': ab}",
      "{a: {b: {}}, c: d}",
      "{a: {b: {c: d}}}",
      "{a: {b: c, d: e}}",
      "{a: {b: c}, d: e}",
  };
  std::set<std::string> seen;
  for (const std::string& tree : trees) {
    EXPECT_TRUE(seen.insert(revision(withData(tree))).second) << tree;
  }
}

TEST(Revision, ChangesWhenAnObjectIsAddedRemovedOrRenamed) {
  std::set<std::string> seen;
  for (const std::string& set :
       {std::string(), kMap, kOther, kMap + "---\n" + kOther, kMap + "---\n" + kMap, std::string("- a\n"),
        object("v1", "Pod", "a", ""), object("v2", "ConfigMap", "a", "data: {k: v, l: w}\n")}) {
    EXPECT_TRUE(seen.insert(revision(set)).second) << set;
  }
}

TEST(Revision, ChangesWithASecretWithoutDisclosingIt) {
  const std::string other = object("v1", "Secret", "s", "stringData: {token: hunter3}\n");
  EXPECT_EQ(revision(kSecret), revision(kSecret + "# comment\n"));
  EXPECT_NE(revision(kSecret), revision(other));
  EXPECT_NE(revision(kSecret, "one"), revision(kSecret, "two"));
}

TEST(Revision, UsesTheKeyForObjectsThatMayHoldASecret) {
  const std::string inList =
      "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: s}, "
      "stringData: {token: hunter2}}]\n";
  const std::string inTwoLists =
      "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, "
      "metadata: {name: s}, stringData: {token: hunter2}}]}]}\n";
  for (const std::string& set :
       {inList, inTwoLists, object("v1", "Secrets", "s", "data: {a: aHVudGVyMg==}\n"),
        object("v9", "Secret", "s", "data: {a: aHVudGVyMg==}\n"), std::string("token: hunter2\n"),
        std::string("[hunter2]\n"), std::string("hunter2\n"),
        std::string("apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  annotations: {last: hunter2}\n")}) {
    EXPECT_NE(revision(set, "one"), revision(set, "two")) << set;
    EXPECT_EQ(revision(set, "one"), revision(set, "one")) << set;
  }
}

TEST(Revision, DependsOnTheTextsAndTheKeyIfTextsAreUnreadable) {
  const auto unreadable = [](const std::string& text, const std::string& key = "key") {
    const Configuration configuration = loadTexts({{"a.yaml", kMap}, {"b.yaml", text}}, base::Secret(key));
    EXPECT_FALSE(configuration.readable);
    return configuration.revision;
  };
  EXPECT_THAT(unreadable("a: [\n"), MatchesRegex("[0-9a-f]{12}"));
  EXPECT_EQ(unreadable("a: [\n"), unreadable("a: [\n"));
  EXPECT_NE(unreadable("a: [\n"), unreadable("b: [\n"));
  EXPECT_NE(unreadable("a: [\n", "one"), unreadable("a: [\n", "two"));
}

TEST(Revision, DistinguishesMissingFiles) {
  TextCache cache;
  const auto missing = [&](const std::string& path) {
    return load(readPaths({path}, base::Secret("key"), cache), nullptr).revision;
  };
  EXPECT_EQ(missing("/nonexistent/a"), missing("/nonexistent/a"));
  EXPECT_NE(missing("/nonexistent/a"), missing("/nonexistent/b"));
}

}  // namespace
}  // namespace sluice::config
