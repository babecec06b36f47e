#include "test/server/monitoring/query_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> seriesIn(std::string_view query) {
  std::vector<std::string> series;
  for (const QuerySelector& selector : namesInQuery(query).selectors) series.push_back(selector.series);
  return series;
}

TEST(QueryNames, AreThoseOfMetricsAndNotOfFunctions) {
  EXPECT_THAT(seriesIn("sum by (a) (rate(one_total{b=\"by (c)\"}[5m])) / sum(two) > 14 * 86400"),
              ElementsAre("one_total", "two"));
  EXPECT_THAT(seriesIn("topk(10, sum without (a) (one)) and on (b) two offset 5m == bool 1"),
              ElementsAre("one", "two"));
  EXPECT_THAT(seriesIn("time() - 1e3"), IsEmpty());
}

TEST(QueryNames, HaveMatchersAndGroupings) {
  const QueryNames names = namesInQuery("max by (a, b) (one{c=~'x|y', d!=\"a}\\\"\"}) * on (e) group_left (f) two{}");
  ASSERT_EQ(names.selectors.size(), 2U);
  const std::vector<QueryMatcher>& matchers = names.selectors[0].matchers;
  ASSERT_EQ(matchers.size(), 2U);
  EXPECT_EQ(matchers[0].label + matchers[0].op + matchers[0].value, "c=~x|y");
  EXPECT_EQ(matchers[1].label + matchers[1].op + matchers[1].value, "d!=a}\"");
  EXPECT_THAT(names.selectors[1].matchers, IsEmpty());
  EXPECT_THAT(names.grouped, ElementsAre("a", "b", "e", "f"));
}

}  // namespace
}  // namespace sluice::server
