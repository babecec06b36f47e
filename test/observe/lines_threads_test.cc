#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "proxy/observe/access_log.h"
#include "proxy/observe/log.h"
#include "test/observe/support.h"

namespace sluice::observe {
namespace {

constexpr int kThreads = 4;

void together(const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&task, i] { task(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(LogThreads, KeepTheirLinesWhole) {
  TempPath temp;
  const base::SystemClock clock;
  const Log log(LogLevel::kInfo, clock, LineFile::open(temp.path()).value());
  together([&log](int i) {
    const std::string text(static_cast<std::size_t>(100 + i), static_cast<char>('a' + i));
    for (int round = 0; round < 500; ++round) log.info(text, {{"worker", i}, {"round", round}});
  });
  const auto lines = splitLines(temp.read());
  EXPECT_EQ(lines.size(), kThreads * 500u);
  for (const std::string& line : lines) ASSERT_TRUE(JsonReader::members(line).has_value()) << line;
  EXPECT_EQ(log.dropped(), 0u);
}

TEST(AccessLogThreads, KeepTheirLinesWholeThroughAPipeThatIsOftenFull) {
  LogPipe pipe;
  const auto file = LineFile::over(pipe.writer());
  std::atomic<std::uint64_t> dropped = 0;
  std::atomic<int> running = kThreads;
  std::string seen;
  std::thread reader([&] {
    while (running > 0) seen += pipe.read(100'000);
    seen += pipe.read();
  });
  together([&](int i) {
    AccessLog log(file.get());
    AccessRecord record;
    const std::string path(static_cast<std::size_t>(1500 + i), static_cast<char>('a' + i));
    record.path = path;
    for (int round = 0; round < 2000; ++round) {
      log.append(record);
      if (log.wantsFlush()) log.flush();
    }
    while (log.buffered() > 0) log.flush();
    dropped += log.dropped();
    --running;
  });
  reader.join();
  const auto lines = splitLines(seen);
  EXPECT_EQ(lines.size() + dropped, kThreads * 2000u);
  for (const std::string& line : lines) ASSERT_TRUE(JsonReader::members(line).has_value()) << line;
}

}  // namespace
}  // namespace sluice::observe
