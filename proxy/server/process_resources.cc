#include "proxy/server/process_resources.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <limits>

namespace sluice::server {

std::size_t raiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

void forbidCoreFiles() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

// The allocator keeps what a thread has freed for the threads of the same arena. Workers take large buffers in turn
// from budgets that they share, and with an arena for each of them, the process would keep the largest amount that each
// worker ever had. There is hardly any contention, because a request in steady state allocates nothing. The arena keeps
// the memory that the reload of a large configuration frees, because the next reload takes it again, and page faults
// are expensive.
void shareFreedMemory() {
  constexpr int kKept = 64 * 1024 * 1024;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

void fillStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));  // takes the lowest free number
  }
}

}  // namespace sluice::server
