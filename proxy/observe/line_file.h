// A file of lines, or the file behind stdout or stderr. Takes whole lines from many threads and never blocks on a
// reader.
//
// A full pipe gives kBusy, a full disk or a closed pipe kFailed; the next write tries again. If the system took only
// part of a line, the rest is kept and goes out before anything else, so that no reader sees two lines in one. Writes
// to a file that could not be opened give kUnopened until reopen() succeeds.
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
  /// Returns a file that could not be opened at `path`. Its lines are lost until reopen() succeeds.
  static std::unique_ptr<LineFile> unopened(const std::string& path);
  /// Returns the reason why open() would fail now, if that can be known without opening or making anything. Fails with
  /// an error of config's origin.
  static base::Status check(const std::string& path);
  /// Writes to the file behind `fd` without blocking; `fd` itself stays the caller's. A closed `fd` gives a file whose
  /// writes always fail.
  static std::unique_ptr<LineFile> over(int fd);

  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Opens its path again, after the file was moved away to rotate it. A file that was not opened by its path stays as
  /// it is; after an error of config's origin the old file is still used. Any thread.
  base::Status reopen();

  enum class End { kDone, kBusy, kFailed, kUnopened };
  struct Outcome {
    std::size_t taken = 0;  // bytes, always whole lines; less than all unless the end is kDone
    End end = End::kDone;
  };
  /// `lines` ends with a line feed. Any thread.
  Outcome write(std::string_view lines);

 private:
  explicit LineFile(int fd, std::string path = {}) : path_(std::move(path)), fd_(fd) {}
  End writeRest();

  const std::string path_;
  std::mutex mutex_;
  int fd_;            // negative: not open. Refers to another file after reopen()
  std::string rest_;  // the end of a line that was written in part
};

}  // namespace sluice::observe
