#include "proxy/http/proxy_status.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/base/arena.h"

namespace sluice::http {
namespace {

class ProxyStatus : public ::testing::Test {
 protected:
  bool has(const std::vector<std::string_view>& lines) {
    Headers headers;
    for (const std::string_view line : lines) headers.add(arena_, "proxy-status", line);
    return hasProxyStatusOf(headers, "ours-");
  }
  /// Returns all lines of the field that are left, each in brackets.
  std::string without(const std::vector<std::string_view>& lines) {
    Headers headers;
    headers.add(arena_, "server", "ours-1");
    for (const std::string_view line : lines) headers.add(arena_, "proxy-status", line);
    removeProxyStatusOf(arena_, "ours-", headers);
    EXPECT_NE(headers.find("server"), nullptr);
    std::string left;
    for (const Field& field : headers) {
      if (field.name == "proxy-status") left.append("[").append(field.value).append("]");
    }
    return left;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(ProxyStatus, FindsTheEntryOfAnIntermediaryByTheBeginningOfItsName) {
  for (const std::string_view value :
       {"ours-1", "ours-1; error=dns_error", "\"ours-1\"; error=dns_error", "other; details=\"a, b\",ours-1",
        "other;details=\"a \\\" b\", \tours-1;received-status=503", ", ours-1"}) {
    EXPECT_TRUE(has({value})) << value;
  }
  EXPECT_TRUE(has({"other", "ours-1"})) << "the list may be on several lines";
}

TEST_F(ProxyStatus, FindsNothingInsideOfOtherEntries) {
  for (const std::string_view value :
       {"", ",", "other", "my-ours-1", "other; details=\"a, ours-1\"", "other; details=\"\\\", ours-1\"",
        "other; details=\", ours-1", "other; details=\"\\", "other; next-hop=ours-1", "our"}) {
    EXPECT_FALSE(has({value})) << value;
  }
  EXPECT_FALSE(has({}));
}

TEST_F(ProxyStatus, RemovesTheseEntriesAlone) {
  EXPECT_EQ(without({"ours-1; error=dns_error"}), "");
  EXPECT_EQ(without({"first; details=\"a, b\", ours-1; received-status=503", "ours-2,last"}),
            "[first; details=\"a, b\"][last]");
  EXPECT_EQ(without({"ours-1, x; details=\"a", "b\", ours-2"}), "[x; details=\"a][b\", ours-2]")
      << "a line that is malformed keeps the next one from nothing";
  EXPECT_EQ(without({"a,b", " c "}), "[a,b][ c ]") << "nothing to remove, so nothing is touched";
}

}  // namespace
}  // namespace sluice::http
