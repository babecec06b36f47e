#include "proxy/http/keep_alive.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <vector>

namespace sluice::http {
namespace {

base::Duration timeoutOf(const std::vector<std::string_view>& values) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  Headers headers;
  headers.add(arena, "connection", "keep-alive");
  for (const std::string_view value : values) headers.add(arena, "keep-alive", value);
  return keepAliveTimeout(headers);
}

TEST(KeepAlive, SaysHowLongTheConnectionStaysOpen) {
  EXPECT_EQ(timeoutOf({"timeout=5"}), std::chrono::seconds(5));
  EXPECT_EQ(timeoutOf({"Timeout=5, max=100"}), std::chrono::seconds(5));
  EXPECT_EQ(timeoutOf({"max=100, timeout=0"}), std::chrono::seconds(0));
  EXPECT_EQ(timeoutOf({"timeout=4294967295"}), std::chrono::seconds(4294967295));
}

TEST(KeepAlive, TheShortestTimeIsUsed) {
  EXPECT_EQ(timeoutOf({"timeout=9", "max=1", "timeout=3, timeout=7"}), std::chrono::seconds(3));
}

TEST(KeepAlive, AValueThatIsNoNumberOfSecondsIsIgnored) {
  for (const char* value : {"", "max=5", "timeout", "timeout=", "timeout=-1", "timeout=1.5", "timeout=5s", "timeout=+5",
                            "timeout= 5", "timeout=4294967296", "timeouts=5"}) {
    EXPECT_EQ(timeoutOf({value}), base::Duration::max()) << value;
  }
  EXPECT_EQ(timeoutOf({}), base::Duration::max());
}

}  // namespace
}  // namespace sluice::http
