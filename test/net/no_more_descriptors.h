// Makes the process run out of descriptors.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace sluice::test {

/// Lowers the limit of descriptors to the number in use, for as long as it lives.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    rlimit low = before_;
    low.rlim_cur = static_cast<rlim_t>(next);
    ::close(next);
    setrlimit(RLIMIT_NOFILE, &low);
  }
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace sluice::test
