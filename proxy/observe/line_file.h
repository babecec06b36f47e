// Where lines go: a file, or what stands behind stdout or stderr. Takes whole lines from many threads and never blocks
// on a reader.
//
// A full pipe says kBusy, a full disk or a closed pipe kFailed; the next write tries again. If the system took only
// part of a line, its rest is kept and goes out before anything else, so no reader sees two lines in one. Needs
// SIGPIPE to be ignored.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/base/result.h"

namespace sluice::observe {

class LineFile {
 public:
  /// Appends to the file at `path`, which is made (0640) if it is missing; /dev/stdout and /dev/stderr are the
  /// process's own.
  static base::Result<std::unique_ptr<LineFile>> open(const std::string& path);
  /// Writes to what `fd` stands for, without blocking; `fd` itself stays the caller's. A closed `fd` gives a file that
  /// always fails.
  static std::unique_ptr<LineFile> over(int fd);

  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Opens its path anew, after somebody has moved the file away to rotate it. What was not opened by its path stays as
  /// it is; an error (config's) leaves the old file. Any thread.
  base::Status reopen();

  enum class End { kDone, kBusy, kFailed };
  struct Outcome {
    std::size_t taken = 0;  // bytes, always whole lines; less than all unless the end is kDone
    End end = End::kDone;
  };
  /// `lines` ends with a line feed. Any thread.
  Outcome write(std::string_view lines);

 private:
  explicit LineFile(int fd, std::string path = {}) : fd_(fd), path_(std::move(path)) {}
  End writeRest();

  const int fd_;  // stands for another file after reopen()
  const std::string path_;
  std::mutex mutex_;
  std::string rest_;  // of the line that was taken in part
};

}  // namespace sluice::observe
