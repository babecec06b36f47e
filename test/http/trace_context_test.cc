#include "proxy/http/trace_context.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/chunk_pool.h"

namespace sluice::http {
namespace {

constexpr std::string_view kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kSpan = "00f067aa0ba902b7";

class TraceContextTest : public testing::Test {
 protected:
  TraceContext of(const std::string& value) {
    Headers headers;
    headers.add(arena_, "traceparent", arena_.copy(value));
    return traceContextOf(headers);
  }
  static std::string parent(const std::string& version, std::string_view trace, std::string_view span,
                            const std::string& rest = "-01") {
    return version + "-" + std::string(trace) + "-" + std::string(span) + rest;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(TraceContextTest, IsThatOfTheCaller) {
  for (const std::string& value : {parent("00", kTrace, kSpan), parent("cc", kTrace, kSpan, "-01-what-comes-later")}) {
    EXPECT_EQ(of(value).traceId, kTrace) << value;
    EXPECT_EQ(of(value).spanId, kSpan) << value;
  }
}

TEST_F(TraceContextTest, IsEmptyIfTheFieldIsMalformed) {
  const std::string upper = "4BF92F3577B34DA6A3CE929D0E0E4736";
  for (const std::string& value :
       {std::string(), std::string("00"), parent("ff", kTrace, kSpan), parent("00", kTrace, kSpan, "-01-more"),
        parent("cc", kTrace, kSpan, "-01more"), parent("00", std::string(32, '0'), kSpan),
        parent("00", kTrace, std::string(16, '0')), parent("00", upper, kSpan), parent("00", kTrace, kSpan, "-0"),
        parent("0x", kTrace, kSpan), parent("00", kTrace, "00f067aa0ba902bg")}) {
    EXPECT_EQ(of(value).traceId, "") << value;
    EXPECT_EQ(of(value).spanId, "") << value;
  }
}

TEST_F(TraceContextTest, IsEmptyWithoutOneField) {
  Headers headers;
  EXPECT_EQ(traceContextOf(headers).traceId, "");
  const std::string value = parent("00", kTrace, kSpan);
  for (int i = 0; i < 2; ++i) headers.add(arena_, "traceparent", arena_.copy(value));
  EXPECT_EQ(traceContextOf(headers).traceId, "");
}

}  // namespace
}  // namespace sluice::http
