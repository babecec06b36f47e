// Tests the parts of the proxy before the API server: they find where requests begin in a stream, and where to cut it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/kubernetes/proxy_faults.h"
#include "test/integration/support/kubernetes/request_follower.h"

namespace sluice::test {
namespace {

constexpr const char* kStream =
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
    "PATCH /b HTTP/1.1\r\nContent-Length: 16\r\n\r\nGET /x HTTP/1.1\n"
    "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nGET\r\n1;x\r\n\n\r\n0\r\nT: 1\r\n\r\n"
    "GET /d HTTP/1.1\r\n\r\n";

TEST(RequestFollowing, FindsEachHeadHoweverTheBytesCome) {
  const std::string stream = kStream;
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    RequestFollower follower;
    std::string heads;
    std::string all;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      for (const RequestPiece& piece : follower.take(std::string_view(stream).substr(at, step))) {
        all += piece.bytes;
        if (piece.isHead) heads += piece.bytes.substr(0, piece.bytes.find(" HTTP")) + ";";
      }
    }
    EXPECT_EQ(heads, "GET /a;PATCH /b;POST /c;GET /d;");
    EXPECT_EQ(all, stream);
  }
}

TEST(CutPoints, AreMetHoweverTheBytesCome) {
  const std::string stream = "aab aaabc, and so on";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    CutPoint point({.after = "aabc", .bytes = 2});
    std::string forwarded;
    for (std::size_t at = 0; at < stream.size() && !point.reached(); at += step) {
      const std::string bytes = stream.substr(at, step);
      forwarded += bytes.substr(0, point.allow(bytes));
    }
    EXPECT_EQ(forwarded, "aab aaabc, ") << step;
    EXPECT_TRUE(point.reached());
  }
}

TEST(CutPoints, AreReachedAtOnceIfNoByteIsAllowed) {
  CutPoint point({.bytes = 0});
  EXPECT_EQ(point.allow("abc"), 0u);
  EXPECT_TRUE(point.reached());
}

}  // namespace
}  // namespace sluice::test
