// The soak preloads this library into the gateway; it writes every second how many bytes of the heap are in use. The
// resident size shows less about a process under AddressSanitizer, whose allocator keeps freed memory in quarantine and
// spreads live memory over more and more pages. The product does not know of this library.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using Count = std::size_t (*)();

void writeForEver(Count count, int fd) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable never;
  while (true) {
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%-20zu\n", count());
    if (pwrite(fd, text, static_cast<std::size_t>(size), 0) != size) return;
    never.wait_for(lock, std::chrono::seconds(1));
  }
}

__attribute__((constructor)) void start() {
  const char* file = std::getenv("SLUICE_HEAP_PROBE");
  const auto count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes"));
  if (file == nullptr || count == nullptr) return;
  const int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) std::thread(writeForEver, count, fd).detach();
}

}  // namespace
