#include "proxy/http/retry_after.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/arena.h"

namespace sluice::http {
namespace {

using std::chrono::seconds;

/// Reads the field at Sun, 06 Nov 1994 08:49:37 GMT.
std::optional<base::Duration> waitOf(const std::string& value) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  Headers headers;
  headers.add(arena, "retry-after", value);
  return retryAfter(headers, base::WallTime(seconds(784111777)));
}

TEST(RetryAfter, IsANumberOfSecondsOrADate) {
  EXPECT_EQ(waitOf("0"), seconds(0));
  EXPECT_EQ(waitOf("120"), seconds(120));
  EXPECT_EQ(waitOf("Sun, 06 Nov 1994 08:50:37 GMT"), seconds(60));
  EXPECT_EQ(waitOf("Sun, 06 Nov 1994 08:49:36 GMT"), seconds(0)) << "it has passed";
}

TEST(RetryAfter, IsBounded) {
  EXPECT_EQ(waitOf("99999999999999999999"), std::chrono::hours(366 * 24));
  EXPECT_EQ(waitOf("Sun, 06 Nov 9994 08:49:37 GMT"), std::chrono::hours(366 * 24));
}

TEST(RetryAfter, IsNothingElse) {
  for (const char* wrong : {"", "-1", "1.5", "soon", "1 s", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 GMT+1"}) {
    EXPECT_EQ(waitOf(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(retryAfter({}, {}), std::nullopt);
}

}  // namespace
}  // namespace sluice::http
