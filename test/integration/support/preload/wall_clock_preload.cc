// This library is loaded before the C library of a program under test. It moves the program's wall clock by the seconds
// in the file that SLUICE_TEST_CLOCK names, and its monotonic clocks ahead by those in the file that SLUICE_TEST_PASSED
// names. Times that the kernel counts by itself, such as the timeout of epoll_wait, do not change. It allocates
// nothing.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

std::int64_t nothing = 0;

// These are constant-initialised and looked up at first use: other libraries may read the time before any constructor
// here has run.
std::atomic<std::int64_t*> wall = nullptr;
std::atomic<std::int64_t*> passed = nullptr;

std::int64_t* find(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return &nothing;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return &nothing;
  void* memory = mmap(nullptr, sizeof nothing, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? &nothing : static_cast<std::int64_t*>(memory);
}

time_t secondsIn(std::atomic<std::int64_t*>& shared, const char* variable) {
  std::int64_t* seconds = shared.load();
  if (seconds == nullptr) shared = seconds = find(variable);
  return std::atomic_ref(*seconds).load();
}

time_t secondsOff(clockid_t clock) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return secondsIn(wall, "SLUICE_TEST_CLOCK");
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE) return secondsIn(passed, "SLUICE_TEST_PASSED");
  return 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (result == 0) now->tv_sec += secondsOff(clock);
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* __restrict out, void* __restrict) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return result;
}
}
