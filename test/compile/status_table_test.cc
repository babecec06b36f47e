// Tests that the tables of kinds agree: every kind with a status in config/ has exactly one writer.
#include "proxy/compile/status/status_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/policy_kinds.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

std::vector<StatusEntry> allWriters() {
  std::vector<StatusEntry> all(statusTable().begin(), statusTable().end());
  all.insert(all.end(), policyStatuses().begin(), policyStatuses().end());
  return all;
}

TEST(StatusTable, HasAnEntryForExactlyTheKindsWithAStatus) {
  const std::vector<StatusEntry> writers = allWriters();
  for (const config::ObjectKind& kind : config::objectKinds()) {
    const auto entries = std::count_if(writers.begin(), writers.end(),
                                       [&](const StatusEntry& entry) { return *entry.type == *kind.type; });
    EXPECT_EQ(entries, kind.status ? 1 : 0) << kind.kind;
  }
}

TEST(StatusTable, HasNoEntryForATypeWithoutAKind) {
  for (const StatusEntry& entry : allWriters()) {
    const auto isOfEntry = [&](const config::ObjectKind& kind) { return *kind.type == *entry.type; };
    EXPECT_TRUE(std::any_of(config::objectKinds().begin(), config::objectKinds().end(), isOfEntry))
        << entry.type->name();
  }
}

TEST(StatusTable, WritesAStatusForEveryObjectWithoutALegiblePart) {
  for (const config::ObjectKind& kind : config::objectKinds()) {
    if (!kind.status) continue;
    const std::string apiVersion = std::string(kind.group) + "/" + std::string(kind.versions.front());
    const std::string text = "apiVersion: " + apiVersion + "\nkind: " + std::string(kind.kind) +
                             "\nmetadata: {name: o}\nspec: {surprise: 1}\n";
    const test::World world({text});
    const config::ObjectStatus* status = world.status(kind.kind, "o");
    ASSERT_NE(status, nullptr) << kind.kind;
    EXPECT_EQ(status->group, kind.group);
    EXPECT_EQ(world.condition(kind.kind, "o", "Accepted"), "False/Invalid") << kind.kind;
  }
}

}  // namespace
}  // namespace sluice::compile
