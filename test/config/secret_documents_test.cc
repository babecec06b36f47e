#include "config/load/secret_documents.h"

#include <gtest/gtest.h>

#include "config/load/object_set.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

const std::string kOpenMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
const std::string kSecretMap = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hidden}\n";

PartedText part(const std::string& text) {
  TextCache cache;
  const ObjectSet set = readTexts({{"a.yaml", text}}, {}, base::Secret("key"), cache);
  EXPECT_TRUE(set.problems.empty()) << render(set.problems.at(0));
  return partSecrets(text, *set.readings.at(0));
}

/// Returns the kinds and names of the objects of a text.
std::string objectsOf(const std::string& text) {
  TextCache cache;
  std::string names;
  const ObjectSet set = readTexts({{"a.yaml", text}}, {}, base::Secret("key"), cache);
  EXPECT_TRUE(set.problems.empty());
  for (const ObjectReading& each : *set.readings.at(0)) names += each.identity.kind + " " + each.identity.name + ";";
  return names;
}

TEST(SecretDocuments, APartHasTheSecretsAndTheOtherOneTheRest) {
  const std::string unknown = "apiVersion: v1\nkind: Sercet\nmetadata: {name: u}\ndata: {a: aGlkZGVu}\n";
  const std::string text = kOpenMap + "---\n" + kSecretMap + "--- # more\n" + kOpenMap + "---\n" + unknown;
  const PartedText parted = part(text);
  EXPECT_EQ(parted.open, kOpenMap + "--- # more\n" + kOpenMap);
  EXPECT_EQ(parted.secret, "---\n" + kSecretMap + "---\n" + unknown);
  EXPECT_EQ(objectsOf(parted.open), "ConfigMap m;ConfigMap m;");
  EXPECT_EQ(objectsOf(parted.secret), "Secret s;Sercet u;") << "it may be a misspelt Secret";
}

TEST(SecretDocuments, ATextOfOneKindStaysAsItIs) {
  EXPECT_EQ(part(kOpenMap).open, kOpenMap);
  EXPECT_EQ(part(kOpenMap).secret, "");
  EXPECT_EQ(part(kSecretMap).open, "");
  EXPECT_EQ(part(kSecretMap).secret, kSecretMap);
  EXPECT_EQ(part("").open, "");
}

TEST(SecretDocuments, AListWithASecretIsOne) {
  const std::string list =
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: m}}\n"
      "- {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hidden}}\n";
  EXPECT_EQ(part("---\n" + kOpenMap + "---\n" + list).open, "---\n" + kOpenMap);
  const std::string ofOneKind =
      "apiVersion: v1\nkind: SecretList\nitems:\n- {metadata: {name: s}, stringData: {a: hidden}}\n";
  EXPECT_EQ(part("---\n" + kOpenMap + "---\n" + ofOneKind).open, "---\n" + kOpenMap);
  const std::string json =
      R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hidden"}})";
  EXPECT_EQ(part(json).open, "");
}

TEST(SecretDocuments, WhatCannotBeReadMayBeASecret) {
  const std::string misspelt =
      "apiVersion: v1\nkind: List\nitmes:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: "
      "hidden}}\n";
  TextCache cache;
  const std::string text = kOpenMap + "---\n" + misspelt;
  const ObjectSet set = readTexts({{"a.yaml", text}}, {}, base::Secret("key"), cache);
  EXPECT_EQ(partSecrets(text, *set.readings.at(0)).open, kOpenMap);
}

TEST(SecretDocuments, LinesWithinABlockDoNotBeginADocument) {
  const std::string block =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: |\n    --- hidden\n    ----\n    more\n";
  EXPECT_EQ(part(block + "---\n" + kOpenMap).open, "---\n" + kOpenMap);
  EXPECT_EQ(part(block).secret, block);
}

}  // namespace
}  // namespace sluice::config
