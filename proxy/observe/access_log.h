// The access log: one JSON line per exchange, batched, escaped and bounded, with the product's fields in the product's
// order.
//
// One AccessLog per worker, on its thread, with its own buffer; all write to one LineFile. It never waits for a
// reader: lines that cannot be written are kept up to kMaxBuffered, then dropped and counted, and writing goes on as
// soon as the file takes lines again. The process's own log and the owner are told once that lines are being lost, and
// the log once how many were lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/timestamp.h"
#include "proxy/observe/line_file.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metric_instruments.h"

namespace sluice::observe {

/// The log fields of one exchange. Members are in the order of the line; a member that is empty, zero (status) or
/// missing is written as null.
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
  std::string_view nameSpace;  // the calling workload's namespace
  std::string_view serviceAccount;
  std::string_view principal;  // the caller's name by its proof, such as a SPIFFE ID or a user
  std::string_view assurance;  // "None", "Address", "Token" or "Certificate"
  std::uint32_t attempts = 0;
  std::string_view processor;
  std::string_view revision;
  std::string_view errorMessage;
  std::string_view requestId;
  std::string_view spanId;
  std::string_view retryRefused;  // the limit because of which the body could not be sent again
  std::string_view policy;        // the EgressPolicy that has decided
  std::string_view rule;          // its rule
  std::string_view decision;      // "allowed", "denied" or "audited"

  /// The fields that only requests to forward proxies have.
  struct Proxied {
    std::string_view way = {};  // "absolute" or "connect"
    bool isTunnel = false;
    // Of a tunnel:
    std::string_view protocol = {};    // "tls", "http" or "tcp"
    std::string_view serverName = {};  // of TLS
    std::string_view end = {};
  };
  const Proxied* proxied = nullptr;  // its fields are written only if it is set; outlives the record
};

/// Opens the file of settings.yaml `accessLog.path`. Returns nullptr for "off"; a path that cannot be opened is an
/// error of config's origin.
base::Result<std::unique_ptr<LineFile>> openAccessLogFile(const std::string& path);
/// Returns the reason why openAccessLogFile() would fail now, as far as LineFile::check() knows it.
base::Status checkAccessLogFile(const std::string& path);

class AccessLog {
 public:
  /// The largest size of one line in bytes, whatever the record holds.
  static constexpr std::size_t kMaxLineBytes = std::size_t{12} * 1024;
  /// The number of bytes of the path, of any other text, of the error's message, and of a word of a fixed vocabulary
  /// (such as the error's type) that are written at most, escapes counted.
  static constexpr std::size_t kMaxPathBytes = 2048;
  static constexpr std::size_t kMaxTextBytes = 384;
  static constexpr std::size_t kMaxMessageBytes = 256;
  static constexpr std::size_t kMaxWordBytes = 40;
  /// A batch of this many bytes is worth writing.
  static constexpr std::size_t kBatchBytes = std::size_t{64} * 1024;
  /// The number of bytes that are kept at most for a busy file.
  static constexpr std::size_t kMaxBuffered = std::size_t{1024} * 1024;

  /// Takes the reason why lines are being lost, each time that losses begin; called inside flush().
  using OnLosses = std::function<void(std::string_view reason)>;
  /// `file` outlives the log; if it is nullptr, the log is off and costs nothing. `log` outlives it too; if it is
  /// nullptr, losses are only counted. `losses` belongs to the same thread and outlives it; unless it is nullptr, it
  /// counts the lost lines too.
  explicit AccessLog(
      LineFile* file, const Log* log = nullptr, Counter* losses = nullptr, OnLosses onLosses = [](std::string_view) {});

  /// Returns false if records are not written and need not be gathered.
  bool enabled() const { return file_ != nullptr; }
  void append(const AccessRecord& record);
  std::size_t buffered() const { return buffer_.size(); }
  /// Returns true if a batch is full: the owner should flush() in this turn. Backs off by one batch when the file was
  /// busy.
  bool wantsFlush() const { return buffer_.size() >= nextFlush_; }
  /// Writes the buffered lines, if any; also called about once a second and at the end.
  void flush();
  /// Returns how many lines were lost so far.
  std::uint64_t dropped() const { return dropped_; }

 private:
  /// Renders a record into line_.
  std::string_view render(const AccessRecord& record);
  void countLost(std::uint64_t lines);
  void reportLosses(LineFile::End end);

  LineFile* file_;
  const Log* log_;
  Counter* losses_;
  const OnLosses onLosses_;
  std::unique_ptr<char[]> line_;
  std::string buffer_;
  std::size_t nextFlush_ = kBatchBytes;
  base::Timestamp timestamp_;
  std::uint64_t dropped_ = 0;
  std::uint64_t told_ = 0;  // lost lines that were reported
  bool losing_ = false;     // lines are being lost, and this was reported
};

}  // namespace sluice::observe
