// Tests files as a source: their content, and that changes are reported.
#include "proxy/control/file_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::control {
namespace {

class FileSources : public ::testing::Test {
 protected:
  FileSources() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write("a", "v");
  }
  ~FileSources() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& value) const {
    std::ofstream(folder_ + "/" + name + ".yaml")
        << "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " << name << "}\ndata: {k: " << value << "}\n";
  }

  const base::Secret key_{"key"};
  std::string folder_ = ::testing::TempDir() + "file-source.XXXXXX";
  sluice::test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
};

TEST_F(FileSources, ReadTheWholeSetAndReuseUnchangedReadings) {
  write("b", "v");
  FileSource source({folder_}, main_, log_);
  const config::ObjectSet before = source.read(key_);
  write("b", "w");
  const config::ObjectSet after = source.read(key_);
  ASSERT_EQ(before.readings.size(), 2U);
  ASSERT_EQ(after.readings.size(), 2U);
  EXPECT_EQ(after.readings[0], before.readings[0]);
  EXPECT_NE(after.readings[1], before.readings[1]);
}

TEST_F(FileSources, RefuseAMissingPath) {
  FileSource source({folder_ + "/nowhere"}, main_, log_);
  const config::ObjectSet set = source.read(key_);
  EXPECT_TRUE(config::hasErrors(set.problems));
  EXPECT_FALSE(set.refused.empty());
}

TEST_F(FileSources, ReportAChange) {
  const base::SystemClock clock;
  net::Worker main(clock);
  FileSource source({folder_}, main, log_);
  struct CountedReader final : Reloadable {
    void reload() override { ++told; }
    int told = 0;
  } reader;
  source.watch(reader);
  write("b", "v");
  EXPECT_TRUE(sluice::test::runUntil(main, [&] { return reader.told > 0; }));
  EXPECT_EQ(source.read(key_).readings.size(), 2U);
}

}  // namespace
}  // namespace sluice::control
