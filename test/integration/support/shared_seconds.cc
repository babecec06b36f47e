#include "test/integration/support/shared_seconds.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace sluice::test {

SharedSeconds::SharedSeconds() : path_(folder_.write("seconds", std::string(sizeof *seconds_, '\0'))) {
  const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof *seconds_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  seconds_ = static_cast<std::int64_t*>(memory);
}

SharedSeconds::~SharedSeconds() { munmap(seconds_, sizeof *seconds_); }

std::vector<std::string> SharedSeconds::startedBy(const std::string& variable) const {
  // AddressSanitizer insists on being the first library, which only matters to libraries that allocate.
  const char* options = std::getenv("ASAN_OPTIONS");
  const std::string others = options != nullptr ? ":" + std::string(options) : "";
  return {"env", "LD_PRELOAD=" SLUICE_WALL_CLOCK, variable + "=" + path_,
          "ASAN_OPTIONS=verify_asan_link_order=0" + others};
}

void SharedSeconds::set(std::chrono::seconds to) { std::atomic_ref(*seconds_).store(to.count()); }

std::chrono::seconds SharedSeconds::get() const { return std::chrono::seconds(std::atomic_ref(*seconds_).load()); }

}  // namespace sluice::test
