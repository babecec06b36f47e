#include "proxy/kubernetes/revisions/revised_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "config/load/text_cache.h"
#include "proxy/base/base64.h"
#include "proxy/content/gzip.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRevisedRoute =
    R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"r","namespace":"demo"},)"
    R"("spec":{"parentRefs":[{"name":"egress"}]}})";
constexpr const char* kRevisedSecret =
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"demo"},"data":{"key":"c2VjcmV0"}})";
constexpr const char* kRevisedService =
    R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"demo"},"spec":{"ports":[{"port":80}]}})";

/// Returns the set of an API server's texts, read with a key of its own.
config::ObjectSet setOf(const std::vector<std::string>& texts, const std::string& prefix = "kubernetes:") {
  config::KeptTexts kept;
  for (const std::string& text : texts) {
    kept.push_back(std::make_shared<const config::KeptText>(prefix + std::to_string(kept.size()), base::Secret(text)));
  }
  config::TextCache cache;
  static int keys = 0;
  return config::readTexts(kept, {}, base::Secret("key " + std::to_string(++keys)), cache);
}

std::vector<std::string> textsOf(const config::KeptTexts& texts) {
  std::vector<std::string> all;
  for (const auto& each : texts) all.emplace_back(each->text.reveal());
  return all;
}

std::string packed(const config::ObjectSet& set) { return packObjects(revisedTexts(set)); }

std::string whyNot(const std::string& data) {
  const auto unpacked = unpackObjects({"egress-1", "1", data});
  return unpacked ? "" : unpacked.error().detail;
}

TEST(RevisedObjects, LeaveOutSecretsAndServices) {
  const config::ObjectSet set = setOf({kRevisedRoute, kRevisedSecret, kRevisedService});
  const auto unpacked = unpackObjects({"egress-1", "1", packed(set)});
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().detail;
  EXPECT_THAT(textsOf(*unpacked), ElementsAre(std::string(kRevisedRoute)));
  EXPECT_EQ((*unpacked)[0]->file, "kubernetes:EgressRevision/egress-1/0");
}

TEST(RevisedObjects, LeaveOutWhatIsReadFromFilesAndWhatNobodyKnows) {
  EXPECT_EQ(packed(setOf({kRevisedRoute}, "routes.yaml:")), packed(setOf({})));
  const std::string misspelt = R"({"apiVersion":"v1","kind":"Secrte","metadata":{"name":"s"},"data":{"key":"c2U="}})";
  EXPECT_EQ(packed(setOf({kRevisedRoute, misspelt})), packed(setOf({kRevisedRoute})));
}

TEST(RevisedObjects, HaveTheSameRevisionInEveryProcess) {
  const std::string revision = revisionOfObjects(setOf({kRevisedRoute, kRevisedSecret}));
  EXPECT_EQ(revision.size(), 12u);
  EXPECT_EQ(revisionOfObjects(setOf({kRevisedRoute})), revision) << "a Secret is no part of it";
  std::string changed = kRevisedRoute;
  changed.replace(changed.find("egress"), 6, "other");
  EXPECT_NE(revisionOfObjects(setOf({changed})), revision);
  const auto unpacked = unpackObjects({"egress-1", "1", packed(setOf({kRevisedRoute, kRevisedService}))});
  EXPECT_EQ(revisionOfObjects(setOf(textsOf(*unpacked))), revision)
      << "what is brought back has the revision of before";
}

TEST(RevisedObjects, AreNotKeptIfTheyAreTooLarge) {
  std::string noise;
  unsigned state = 1;
  while (noise.size() < 1'200'000)
    noise.push_back(static_cast<char>('a' + (state = state * 1664525 + 1013904223) / 65536 % 26));
  const std::string large = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"noise":")";
  EXPECT_EQ(packed(setOf({large + noise + "\"}}"})), "");
  EXPECT_NE(packed(setOf({large + noise.substr(0, 100'000) + "\"}}"})), "");
}

TEST(RevisedObjects, AreNotReadFromWhatHasAnotherForm) {
  EXPECT_THAT(whyNot(""), HasSubstr("too large to be kept"));
  EXPECT_THAT(whyNot("no base64!"), HasSubstr("is not base64"));
  EXPECT_THAT(whyNot("bm8gZ3ppcA=="), HasSubstr("is no gzip of at most 67108864 bytes"));
  const std::string half = content::gzip({kRevisedRoute}).substr(0, 40);
  EXPECT_THAT(whyNot(base::encodeBase64(half)), HasSubstr("is no gzip"));
  const std::string bomb = content::gzip({std::string(RevisedObjects::kMostTextBytes + 1, '\n')});
  EXPECT_THAT(whyNot(base::encodeBase64(bomb)), HasSubstr("is no gzip of at most"));
}

}  // namespace
}  // namespace sluice::kubernetes
