// A file of lines, or the file behind stdout or stderr. Takes whole lines from many threads and never blocks on a
// reader.
//
// A full pipe gives kBusy, a full disk or a closed pipe kFailed; the next write tries again. If the system took only
// part of a line, the rest is kept and goes out before anything else, so that no reader sees two lines in one.
// Requires SIGPIPE to be ignored.
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
  /// Writes to the file behind `fd` without blocking; `fd` itself stays the caller's. A closed `fd` gives a file whose
  /// writes always fail.
  static std::unique_ptr<LineFile> over(int fd);

  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Opens its path again, after the file was moved away to rotate it. A file that was not opened by its path stays as
  /// it is; after an error of config's origin the old file is still used. Any thread.
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

  const int fd_;  // refers to another file after reopen()
  const std::string path_;
  std::mutex mutex_;
  std::string rest_;  // the end of a line that was written in part
};

}  // namespace sluice::observe
