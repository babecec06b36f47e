// Runs the attacks, and prints at the end how long their victims waited.
//
//   build/dev/attack_test           attacks the binaries of this build, as the suite does
//   build/dev/attack_test --long    attacks those of build/release, with more attackers, and bounds the waits
//
// SLUICE_ATTACK_TABLE names a file to which the table is added, for a suite that runs each test in a process of its
// own.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "test/attack/support/attack.h"

namespace {

bool longRun = false;

/// Freed memory would be measured as used while AddressSanitizer keeps it in its quarantine of 256 MB.
void keepQuarantineSmall() {
  const char* given = std::getenv("ASAN_OPTIONS");
  const std::string others = given == nullptr ? "" : ":" + std::string(given);
  ::setenv("ASAN_OPTIONS", ("quarantine_size_mb=16" + others).c_str(), 1);
}

}  // namespace

namespace sluice::test {

bool isLongRun() { return longRun; }

}  // namespace sluice::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  keepQuarantineSmall();
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--long") {
      std::fprintf(stderr, "attack_test: %s is not known; besides GoogleTest's own options there is --long\n", argv[i]);
      return 2;
    }
    longRun = true;
  }
  // A long run checks milliseconds, so it attacks the optimised binary.
  if (longRun) setenv("SLUICE_PROGRAMS", SLUICE_SOURCE_DIR "/build/release", 0);
  const int failed = RUN_ALL_TESTS();
  using sluice::test::Attack;
  const std::string rows = Attack::tableRows();
  if (rows.empty()) return failed;
  std::fputs((Attack::tableHead() + rows).c_str(), stdout);
  if (const char* path = std::getenv("SLUICE_ATTACK_TABLE")) {
    std::ofstream file(path, std::ios::app);
    if (file.tellp() == 0) file << Attack::tableHead();
    file << rows;
  }
  return failed;
}
