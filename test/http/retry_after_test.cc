#include "proxy/http/retry_after.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/base/arena.h"

namespace sluice::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Reads the fields at Sun, 06 Nov 1994 08:49:37 GMT.
std::optional<base::Duration> waitByFields(const std::vector<std::pair<std::string, std::string>>& fields) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  Headers headers;
  for (const auto& [name, value] : fields) headers.add(arena, name, value);
  return retryAfter(headers, base::WallTime(seconds(784111777)));
}

std::optional<base::Duration> waitOf(const std::string& value) { return waitByFields({{"retry-after", value}}); }

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

TEST(RetryAfterInMilliseconds, WinsOverSeconds) {
  EXPECT_EQ(waitByFields({{"retry-after-ms", "1500"}}), milliseconds(1500));
  EXPECT_EQ(waitByFields({{"x-ms-retry-after-ms", "70"}}), milliseconds(70));
  EXPECT_EQ(waitByFields({{"retry-after", "30"}, {"retry-after-ms", "250.75"}}), milliseconds(250));
  EXPECT_EQ(waitByFields({{"x-ms-retry-after-ms", "70"}, {"retry-after-ms", "80"}}), milliseconds(80));
  EXPECT_EQ(waitByFields({{"retry-after-ms", "99999999999999999999"}}), std::chrono::hours(366 * 24));
}

TEST(RetryAfterInMilliseconds, IsIgnoredIfItIsNoNumber) {
  for (const char* wrong :
       {"", "-1", ".", "1.", ".5", "1e3", "1.-5", "soon", "10ms", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(waitByFields({{"retry-after-ms", wrong}}), std::nullopt) << wrong;
    EXPECT_EQ(waitByFields({{"retry-after-ms", wrong}, {"retry-after", "2"}}), seconds(2)) << wrong;
    EXPECT_EQ(waitByFields({{"retry-after-ms", wrong}, {"x-ms-retry-after-ms", "3"}}), milliseconds(3)) << wrong;
  }
}

}  // namespace
}  // namespace sluice::http
