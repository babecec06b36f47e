// Tests that every spelling that is read is in the table, and in the reference.
#include "config/convert/converted_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "config/model/client_traffic_policy.h"
#include "config/model/model.h"
#include "config/read/object_kinds.h"
#include "test/support/reference_page.h"

namespace sluice::config {
namespace {

using ::testing::Contains;

/// Returns true if sluice.dev has another spelling of the kind.
bool hasOwnSpelling(const ObjectKind& kind) {
  const std::span<const ObjectKind> kinds = objectKinds();
  return kind.group != kOwnGroup && std::any_of(kinds.begin(), kinds.end(), [&](const ObjectKind& each) {
           return each.group == kOwnGroup && *each.type == *kind.type;
         });
}

TEST(ConvertedKinds, AreAllOtherSpellingsThatAreRead) {
  for (const ObjectKind& each : objectKinds()) {
    const bool hasNoCounterpart = each.isOf<UnsupportedPolicy>() || each.isOf<ClientTrafficPolicy>();
    const bool isOther = hasOwnSpelling(each) || (isForeignGroup(each.group) && !hasNoCounterpart);
    const ConvertedKind* converted = findConvertedKind(each.group, each.kind);
    EXPECT_EQ(converted != nullptr, isOther) << each.kind << " of " << each.group;
    if (converted == nullptr) continue;
    const ObjectKind* counterpart = findObjectKind(converted->newGroup, converted->newKind);
    ASSERT_NE(counterpart, nullptr) << each.kind;
    EXPECT_TRUE(counterpart->hasVersion(converted->newVersion)) << each.kind;
    EXPECT_EQ(findConvertedKind(converted->newGroup, converted->newKind), nullptr) << "ours need no conversion";
  }
}

TEST(ConvertedKinds, AreInTheReference) {
  std::vector<std::string> listed;
  for (const test::PageRow& row :
       test::pageTable(test::referencePage("commands.md"), "| apiVersion | kind | becomes |")) {
    for (const std::string& kind : test::quotedWords(row.at(1))) {
      listed.push_back(test::quotedWords(row.at(0)).at(0) + " " + kind + " " + test::quotedWords(row.at(2)).at(0));
    }
  }
  std::size_t converted = 0;
  for (const ObjectKind& each : objectKinds()) {
    const ConvertedKind* found = findConvertedKind(each.group, each.kind);
    if (found == nullptr) continue;
    for (const std::string_view version : each.versions) {
      ++converted;
      EXPECT_THAT(listed, Contains(std::string(each.group) + "/" + std::string(version) + " " + std::string(each.kind) +
                                   " " + std::string(found->newKind)));
    }
  }
  EXPECT_EQ(listed.size(), converted);
}

}  // namespace
}  // namespace sluice::config
