#include "test/integration/support/wall_clock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace sluice::test {

WallClock::WallClock() : path_(folder_.write("clock", std::string(sizeof *seconds_, '\0'))) {
  const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof *seconds_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  seconds_ = static_cast<std::int64_t*>(memory);
}

WallClock::~WallClock() { munmap(seconds_, sizeof *seconds_); }

std::vector<std::string> WallClock::startedBy() const {
  // AddressSanitizer wants to be the first library of all, which only matters to one that allocates.
  const char* options = std::getenv("ASAN_OPTIONS");
  const std::string others = options != nullptr ? ":" + std::string(options) : "";
  return {"env", "LD_PRELOAD=" SLUICE_WALL_CLOCK, "SLUICE_TEST_CLOCK=" + path_,
          "ASAN_OPTIONS=verify_asan_link_order=0" + others};
}

void WallClock::setOff(std::chrono::seconds by) { std::atomic_ref(*seconds_).store(by.count()); }

}  // namespace sluice::test
