#include "proxy/observe/log.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "proxy/base/secret.h"
#include "test/observe/support.h"
#include "test/support/reference_page.h"

namespace sluice::observe {
namespace {

static_assert(!std::is_constructible_v<LogField, std::string_view, base::Secret>, "a secret is no attribute");
static_assert(!std::is_convertible_v<base::Secret, std::string_view>, "nor a message");

class LogTest : public testing::Test {
 protected:
  Log make(LogLevel level) { return Log(level, clock_, LineFile::over(pipe_.writer())); }
  std::string line(const Log& log, std::string_view message, Log::Fields fields) {
    log.warn(message, fields);
    return pipe_.read();
  }

  HandClock clock_;
  LogPipe pipe_;
};

TEST(LogLevelNames, AreReadAndAnythingElseIsRefused) {
  EXPECT_EQ(parseLogLevel("trace").value(), LogLevel::kTrace);
  EXPECT_EQ(parseLogLevel("debug").value(), LogLevel::kDebug);
  EXPECT_EQ(parseLogLevel("info").value(), LogLevel::kInfo);
  EXPECT_EQ(parseLogLevel("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(parseLogLevel("error").value(), LogLevel::kError);
  EXPECT_EQ(parseLogLevel("off").value(), LogLevel::kOff);
  for (const std::string_view text : {"", "INFO", "warning", "info "}) {
    const auto level = parseLogLevel(text);
    ASSERT_FALSE(level.ok()) << text;
    EXPECT_NE(level.error().detail.find("trace, debug, info"), std::string::npos);
  }
}

TEST_F(LogTest, WritesOneJsonLineWithOpenTelemetrysNames) {
  clock_.wall = someTime(std::chrono::milliseconds(7));
  const Log log = make(LogLevel::kInfo);
  const std::string name = "backend";
  log.warn("connection refused", {{"backend", name},
                                  {"port", 443},
                                  {"bytes", std::uint64_t{1} << 63},
                                  {"tls", true},
                                  {"duration_ms", std::chrono::microseconds(1500)}});
  EXPECT_EQ(pipe_.read(), R"({"time":"2026-01-31T23:59:58.007Z","severity":"WARN","message":"connection refused",)"
                          R"("attributes":{"backend":"backend","port":443,"bytes":9223372036854775808,"tls":true,)"
                          R"("duration_ms":1.500}})"
                          "\n");
}

TEST_F(LogTest, HasItsMembersInTheReference) {
  make(LogLevel::kInfo).info("started");
  const auto members = JsonReader::members(splitLines(pipe_.read()).at(0));
  ASSERT_TRUE(members.has_value());
  std::vector<std::string> names;
  for (const auto& member : *members) names.push_back(member.first);
  const std::string section = test::pageSection(test::referencePage("metrics.md"), "## Process log");
  EXPECT_EQ(test::firstWords(test::pageTable(section, "| member | meaning |")), names);
}

TEST_F(LogTest, WritesARecordWithoutFields) {
  make(LogLevel::kInfo).info("started");
  const auto members = JsonReader::members(splitLines(pipe_.read()).at(0));
  ASSERT_TRUE(members.has_value());
  EXPECT_EQ(members->at(1).second, "\"INFO\"");
  EXPECT_EQ(members->at(3).second, "{}");
}

TEST_F(LogTest, WritesRecordsAtItsLevelOrAbove) {
  for (int level = 0; level <= static_cast<int>(LogLevel::kOff); ++level) {
    const Log log = make(static_cast<LogLevel>(level));
    log.trace("TRACE");
    log.debug("DEBUG");
    log.info("INFO");
    log.warn("WARN");
    log.error("ERROR");
    const auto lines = splitLines(pipe_.read());
    EXPECT_EQ(lines.size(), static_cast<std::size_t>(5 - level));
    for (const std::string& line : lines) {
      const auto members = JsonReader::members(line);
      ASSERT_TRUE(members.has_value()) << line;
      EXPECT_EQ(members->at(1).second, members->at(2).second) << "severity";
    }
    for (int asked = 0; asked <= static_cast<int>(LogLevel::kOff); ++asked) {
      const bool wanted = asked >= level && asked != static_cast<int>(LogLevel::kOff);
      EXPECT_EQ(log.enabled(static_cast<LogLevel>(asked)), wanted);
    }
  }
}

TEST_F(LogTest, StaysOneValidLineForAnyInput) {
  const Log log = make(LogLevel::kInfo);
  const std::string evil = "a\"}\n{\x1b[2J\xff\xc2\x9b\x7f";
  const auto lines = splitLines(line(log, evil, {{evil, evil}}));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(JsonReader::members(lines[0]).has_value()) << lines[0];
  EXPECT_EQ(lines[0].find('\x1b'), std::string::npos);
}

TEST_F(LogTest, BoundsEveryText) {
  const Log log = make(LogLevel::kInfo);
  const std::string fits(Log::kMaxTextBytes, 'x');
  EXPECT_NE(line(log, fits, {{"a", fits}}).find("\"a\":\"" + fits + "\""), std::string::npos);
  const std::string tooLong = fits + "x";
  const std::string text = line(log, tooLong, {{"a", tooLong}});
  EXPECT_EQ(text.find(fits), std::string::npos);
  EXPECT_LT(text.size(), 2 * Log::kMaxTextBytes + 200);
}

TEST_F(LogTest, DropsAndCountsRecordsThatCannotBeWrittenAndRecovers) {
  const Log full(LogLevel::kInfo, clock_, LineFile::open("/dev/full").value());
  full.info("lost");
  full.info("lost too");
  full.debug("not even tried");
  EXPECT_EQ(full.dropped(), 2u);

  const Log log = make(LogLevel::kInfo);
  const std::string text(1000, 'x');
  while (log.dropped() == 0) log.info(text);
  const std::string before = pipe_.read();
  log.info("again");
  EXPECT_EQ(log.dropped(), 1u);
  for (const std::string& each : splitLines(before + pipe_.read())) EXPECT_TRUE(JsonReader::members(each).has_value());
}

TEST_F(LogTest, SurvivesAClosedPipe) {
  const Log log = make(LogLevel::kInfo);
  pipe_.closeReader();
  log.error("nobody listens");
  EXPECT_EQ(log.dropped(), 1u);
}

}  // namespace
}  // namespace sluice::observe
