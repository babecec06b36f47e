// The bytes of the heap that are in use, under the sanitizers and without them.
#pragma once

#include <dlfcn.h>
#include <malloc.h>

#include <cstddef>

namespace sluice::test {

inline std::size_t liveBytes() {
  using Count = std::size_t (*)();
  static const auto count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, "__sanitizer_get_current_allocated_bytes"));
  return count == nullptr ? mallinfo2().uordblks : count();
}

}  // namespace sluice::test
