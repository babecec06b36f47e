#include "proxy/http/max_forwards.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::http {
namespace {

/// Returns the field's value behind the count, "none" if there is none, "spent" or "refused".
std::string counted(const std::vector<std::string_view>& values) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  RequestHead head;
  head.method = Method::kOptions;
  for (const std::string_view value : values) head.headers.add(arena, FieldId::kMaxForwards, value);
  if (!countForwards(arena, head).ok()) return "refused";
  if (head.forwardsSpent) return "spent";
  const Field* field = head.headers.find(FieldId::kMaxForwards);
  return field == nullptr ? "none" : std::string(field->value);
}

TEST(MaxForwards, IsCountedDownToZero) {
  EXPECT_EQ(counted({}), "none");
  EXPECT_EQ(counted({"10"}), "9");
  EXPECT_EQ(counted({"1"}), "0");
  EXPECT_EQ(counted({"0"}), "spent");
  EXPECT_EQ(counted({"000"}), "spent");
}

TEST(MaxForwards, IsOneNumber) {
  for (const char* value : {"", "-1", "a", "1, 2", "99999999999999999999"}) EXPECT_EQ(counted({value}), "refused");
  for (const char* second : {"0", "3"}) EXPECT_EQ(counted({"2", second}), "refused");
  EXPECT_EQ(counted({"0", "2"}), "refused");
}

TEST(MaxForwards, AppliesToTwoMethods) {
  EXPECT_TRUE(countsForwards(Method::kOptions));
  EXPECT_TRUE(countsForwards(Method::kTrace));
  EXPECT_FALSE(countsForwards(Method::kGet));
}

}  // namespace
}  // namespace sluice::http
