#include "proxy/server/commands/recent_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "proxy/server/commands/admin_client.h"

namespace sluice::server {
namespace {

std::string warningsIn(std::string_view page) {
  const auto value = readAdminPage(page);
  EXPECT_TRUE(value.ok()) << value.error().detail;
  return recentWarnings(*value);
}

TEST(RecentWarnings, AreLinesWithReasonObjectMessageAndCount) {
  EXPECT_EQ(warningsIn(R"([
    {"time":"2026-01-31T23:59:59.000Z","count":3,"type":"Warning","reason":"RequestDenied","object":"Backend demo/api",
     "message":"rate_limited: too many"},
    {"time":"2026-01-31T23:59:58.000Z","count":1,"type":"Warning","reason":"RolledBack","object":"",
     "message":"revision one cannot be served"}])"),
            "\nnewest warnings:\n"
            "  2026-01-31T23:59:59.000Z  RequestDenied Backend demo/api: rate_limited: too many (3 times)\n"
            "  2026-01-31T23:59:58.000Z  RolledBack: revision one cannot be served\n");
}

TEST(RecentWarnings, LeaveOutRecoveriesAndWhatTheTableOfObjectsShows) {
  EXPECT_EQ(warningsIn(R"([
    {"time":"t","count":1,"type":"Normal","reason":"Reloaded","object":"","message":"m"},
    {"time":"t","count":1,"type":"Warning","reason":"NotFullyServed","object":"Backend demo/api","message":"m"}])"),
            "");
  EXPECT_EQ(warningsIn("[]"), "");
}

TEST(RecentWarnings, AreTheNewestOnes) {
  for (const std::size_t count : {kMostShownWarnings, kMostShownWarnings + 1}) {
    std::string page = "[";
    for (std::size_t i = 0; i < count; ++i) {
      page += std::string(i == 0 ? "" : ",") + R"({"time":"t","count":1,"type":"Warning","reason":"R)" +
              std::to_string(i) + R"(","object":"","message":"m"})";
    }
    const std::string shown = warningsIn(page + "]");
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), static_cast<std::ptrdiff_t>(kMostShownWarnings) + 2);
    EXPECT_THAT(shown, testing::HasSubstr("  t  R0: m\n"));
  }
}

}  // namespace
}  // namespace sluice::server
