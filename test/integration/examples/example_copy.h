// An example in a folder of the test's own, with free ports in the place of its ports, so that it runs beside others.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {

class ExampleCopy {
 public:
  /// Copies the example of that name, which uses these ports, and what all examples share.
  ExampleCopy(const std::string& name, const std::vector<std::string>& ports) : name_(name) {
    namespace fs = std::filesystem;
    const fs::path from = SLUICE_SOURCE_DIR "/examples";
    const fs::path to = folder_.path() + "/examples";
    fs::create_directories(to / "quickstart");
    fs::create_directories(to / name);
    for (const char* shared : {"show_command.sh", "run_example.sh"}) fs::copy(from / shared, to);
    fs::copy(from / "quickstart" / "origin", to / "quickstart" / "origin");
    fs::copy(from / name, to / name, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::string edits;
    for (const std::string& port : ports) edits += "s/\\b" + port + "\\b/" + std::to_string(freePort()) + "/g;";
    std::vector<std::string> sed = {"sed", "-i", edits};
    for (const auto& entry : fs::directory_iterator(to / name)) {
      if (entry.is_regular_file()) sed.push_back(entry.path());
    }
    EXPECT_EQ(run(sed).exitCode, 0);
  }

  /// Returns the command that runs it with the programs of this build.
  std::vector<std::string> command() const {
    const std::string programs = std::filesystem::absolute(programPath("sluice")).parent_path();
    return {"env", "SLUICE_PROGRAMS=" + programs, "bash", folder_.path() + "/examples/" + name_ + "/run.sh"};
  }

 private:
  const std::string name_;
  TempDir folder_;
};

}  // namespace sluice::test
