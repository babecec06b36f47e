// The access log: one JSON line per exchange, batched, escaped and bounded, with the fields and the order that the
// product fixes.
//
// One AccessLog per worker, on its thread, with its own buffer; all write to one LineFile. It never waits for a reader:
// what can not be written is kept up to kMaxBuffered, then dropped and counted, and writing goes on as soon as the file
// takes lines again. The process's own log says once that lines are being lost, and once how many it were.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/observe/line_file.h"
#include "proxy/observe/log.h"
#include "proxy/observe/timestamp.h"

namespace sluice::observe {

/// What is said of one exchange. Members stand in the order of the line; what is empty, zero (status) or missing is
/// shown as null.
struct AccessRecord {
  struct Failure {
    base::ErrorType type;
    base::ErrorOrigin origin;
  };

  base::WallTime time;
  std::string_view traceId;
  std::string_view clientAddress;
  std::string_view method;
  std::string_view scheme;
  std::string_view serverAddress;
  std::string_view path;             // a query or fragment is cut off: it may carry a secret
  std::string_view protocolVersion;  // "1.0", "1.1", "2"
  std::uint16_t status = 0;
  std::optional<Failure> failure;
  base::Duration duration{};
  std::optional<base::Duration> upstreamDuration;
  std::uint64_t requestBytes = 0;
  std::uint64_t responseBytes = 0;
  std::string_view upstreamAddress;
  std::string_view gateway;
  std::string_view listener;
  std::string_view route;
  std::string_view backend;
  std::string_view nameSpace;  // of the calling workload
  std::string_view serviceAccount;
  std::uint32_t attempts = 0;
  std::string_view processor;
  std::string_view revision;
};

/// settings.yaml `accessLog.path`. "off" gives nullptr; a path that can not be opened is an error of configuration.
base::Result<std::unique_ptr<LineFile>> openAccessLogFile(const std::string& path);

class AccessLog {
 public:
  /// Bytes of one line at most, whatever the record holds.
  static constexpr std::size_t kMaxLineBytes = std::size_t{10} * 1024;
  /// Bytes of the path, and of any other text, that are shown at most, escapes counted.
  static constexpr std::size_t kMaxPathBytes = 2048;
  static constexpr std::size_t kMaxTextBytes = 384;
  /// A batch is worth writing when it has so many bytes.
  static constexpr std::size_t kBatchBytes = std::size_t{64} * 1024;
  /// Bytes that wait for a busy file at most.
  static constexpr std::size_t kMaxBuffered = std::size_t{1024} * 1024;

  /// `file` outlives the log; nullptr: the log is off and costs nothing. So does `log`; nullptr: losses are only
  /// counted.
  explicit AccessLog(LineFile* file, const Log* log = nullptr);

  /// Ask before gathering a record.
  bool enabled() const { return file_ != nullptr; }
  void append(const AccessRecord& record);
  std::size_t buffered() const { return buffer_.size(); }
  /// A batch is full: the owner should flush() in this turn. Backs off by one batch when the file was busy.
  bool wantsFlush() const { return buffer_.size() >= nextFlush_; }
  /// Writes what is buffered; also called about once a second and at the end. Does nothing if nothing waits.
  void flush();
  /// Lines lost so far.
  std::uint64_t dropped() const { return dropped_; }

 private:
  /// Into line_.
  std::string_view render(const AccessRecord& record);
  void reportLosses(LineFile::End end);

  LineFile* file_;
  const Log* log_;
  std::unique_ptr<char[]> line_;
  std::string buffer_;
  std::size_t nextFlush_ = kBatchBytes;
  Timestamp timestamp_;
  std::uint64_t dropped_ = 0;
  std::uint64_t told_ = 0;  // of dropped_
  bool losing_ = false;     // and the log has said so
};

}  // namespace sluice::observe
