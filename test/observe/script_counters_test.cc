#include "proxy/observe/script_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/observe/metrics_reader.h"

namespace sluice::observe {
namespace {

using testing::HasSubstr;

TEST(ScriptCounters, AreSummedOverTheWorkersAndShownByName) {
  MetricsRegistry registry;
  MetricShard one(registry);
  MetricShard other(registry);
  EXPECT_TRUE(one.addNamed("acme.test/A:v1", "seen", 2));
  EXPECT_TRUE(other.addNamed("acme.test/A:v1", "seen", 3));
  EXPECT_TRUE(other.addNamed("acme.test/B:v1", "seen", 1));
  EXPECT_THAT(exposeMetrics(registry), HasSubstr("# TYPE sluice_lua_seen_total counter\n"
                                                 "sluice_lua_seen_total{type=\"acme.test/A:v1\"} 5\n"
                                                 "sluice_lua_seen_total{type=\"acme.test/B:v1\"} 1\n"));
}

TEST(ScriptCounters, HaveABoundForEachTypeThatOthersDoNotFeel) {
  MetricsRegistry registry;
  MetricShard shard(registry);
  for (std::size_t i = 0; i < ScriptCounters::kMostNames; ++i) {
    EXPECT_TRUE(shard.addNamed("acme.test/A:v1", "n" + std::to_string(i), 1)) << i;
  }
  EXPECT_FALSE(shard.addNamed("acme.test/A:v1", "more", 1));
  EXPECT_TRUE(shard.addNamed("acme.test/A:v1", "n0", 1));
  EXPECT_TRUE(shard.addNamed("acme.test/B:v1", "more", 1));
}

}  // namespace
}  // namespace sluice::observe
