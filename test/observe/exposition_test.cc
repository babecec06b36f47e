#include "proxy/observe/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "proxy/observe/process_metrics.h"
#include "test/support/read_families.h"

namespace sluice::observe {
namespace {

using testing::HasSubstr;

constexpr ReadFamily kThings{MetricKind::kGauge, "things", {"kind", "name"}, "What there is."};

TEST(Exposition, WritesAFamilyWithItsSamples) {
  std::string out;
  Exposition page(out);
  page.begin(kThings);
  page.add({"a", "b\"\n"}, std::uint64_t{7});
  page.add({"", "\xff"}, 0.5);
  EXPECT_EQ(out,
            "# HELP things What there is.\n# TYPE things gauge\nthings{kind=\"a\",name=\"b\\\"\\n\"} 7\n"
            "things{kind=\"\",name=\"\xEF\xBF\xBD\"} 0.5\n");
}

double valueIn(const std::string& page, const std::string& name) {
  const std::size_t at = page.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
}

TEST(ProcessMetrics, AreInTheReference) {
  test::expectInReference(kProcessFamilies, "| metric of the process | kind | labels | meaning |");
}

TEST(ProcessMetrics, AreThoseOfThisProcess) {
  std::string before;
  appendProcessMetrics(before, "1.2", "abc");
  EXPECT_THAT(before, HasSubstr("sluice_build_info{version=\"1.2\",commit=\"abc\"} 1\n"));
  for (const ReadFamily& family : kProcessFamilies) {
    EXPECT_THAT(before, HasSubstr("# TYPE " + std::string(family.name) + " "));
  }
  EXPECT_GT(valueIn(before, "process_resident_memory_bytes"), 1e5);
  EXPECT_GT(valueIn(before, "process_virtual_memory_bytes"), valueIn(before, "process_resident_memory_bytes"));
  EXPECT_GT(valueIn(before, "process_max_fds"), valueIn(before, "process_open_fds"));
  EXPECT_GE(valueIn(before, "process_cpu_seconds_total"), 0);
  EXPECT_GT(valueIn(before, "process_start_time_seconds"), 1.7e9);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::string after;
  appendProcessMetrics(after, "1.2", "abc");
  EXPECT_EQ(valueIn(after, "process_open_fds"), valueIn(before, "process_open_fds") + 2);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ProcessMetrics, AreReadOnceInASecond) {
  RecentProcessMetrics recent("1.2", "abc");
  const base::MonotonicTime now = base::MonotonicTime() + std::chrono::hours(1);
  const auto openAt = [&](base::MonotonicTime at) {
    std::string page;
    recent.append(page, at);
    return valueIn(page, "process_open_fds");
  };
  const double before = openAt(now);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(openAt(now + std::chrono::milliseconds(999)), before);
  EXPECT_EQ(openAt(now + std::chrono::seconds(1)), before + 2);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace sluice::observe
