#include "proxy/observe/access_log.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstring>
#include <utility>

#include "proxy/base/json_text.h"

namespace sluice::observe {
namespace {

/// Writes one line to memory that has room for AccessLog::kMaxLineBytes. A `key` is all the text before its value:
/// ,"name":
class LineWriter {
 public:
  explicit LineWriter(char* to) : begin_(to), to_(to) {}

  template <std::size_t kSize>
  void literal(const char (&text)[kSize]) {
    std::memcpy(to_, text, kSize - 1);
    to_ += kSize - 1;
  }
  template <std::size_t kSize>
  void text(const char (&key)[kSize], std::string_view value, std::size_t maxBytes = AccessLog::kMaxTextBytes) {
    literal(key);
    if (value.empty()) {
      literal("null");
    } else {
      to_ = base::writeJsonString(to_, value, maxBytes);
    }
  }
  template <std::size_t kSize>
  void word(const char (&key)[kSize], std::string_view value) {
    text(key, value, AccessLog::kMaxWordBytes);
  }
  template <std::size_t kSize>
  void number(const char (&key)[kSize], std::unsigned_integral auto value) {
    literal(key);
    to_ = std::to_chars(to_, to_ + kNumberBytes, value).ptr;
  }
  template <std::size_t kSize>
  void milliseconds(const char (&key)[kSize], std::optional<base::Duration> value) {
    literal(key);
    if (value) {
      to_ = base::writeJsonMilliseconds(to_, *value);
    } else {
      literal("null");
    }
  }
  void time(std::string_view time) { to_ = std::copy(time.begin(), time.end(), to_); }
  std::string_view line() const { return {begin_, static_cast<std::size_t>(to_ - begin_)}; }

  static constexpr std::size_t kNumberBytes = 24;

 private:
  char* begin_;
  char* to_;
};

constexpr std::size_t kTexts = 21;  // includes the error's message, but not the path
constexpr std::size_t kWords = 7;
constexpr std::size_t kNumbers = 6;
constexpr std::size_t kNameBytes = 690;
static_assert(AccessLog::kMaxPathBytes + kTexts * (AccessLog::kMaxTextBytes + 2) +
                      kWords * (AccessLog::kMaxWordBytes + 2) + kNumbers * LineWriter::kNumberBytes +
                      base::Timestamp::kSize + kNameBytes + base::kJsonStringSlack <=
                  AccessLog::kMaxLineBytes,
              "the longest record fits");

/// Returns the target without query and fragment.
std::string_view pathOf(std::string_view target) {
  std::size_t end = 0;
  while (end < target.size() && target[end] != '?' && target[end] != '#') ++end;
  return target.substr(0, end);
}

const char* reasonOf(LineFile::End end) {
  switch (end) {
    case LineFile::End::kBusy:
      return "they are not read fast enough";
    case LineFile::End::kUnopened:
      return "the file is not open";
    case LineFile::End::kDone:
    case LineFile::End::kFailed:
      break;
  }
  return "they cannot be written: a full disk or a closed pipe";
}

}  // namespace

base::Result<std::unique_ptr<LineFile>> openAccessLogFile(const std::string& path) {
  if (path == "off") return std::unique_ptr<LineFile>();
  return LineFile::open(path);
}

base::Status checkAccessLogFile(const std::string& path) {
  return path == "off" ? base::Status(base::Done{}) : LineFile::check(path);
}

AccessLog::AccessLog(LineFile* file, const Log* log, Counter* losses, OnLosses onLosses)
    : file_(file), log_(log), losses_(losses), onLosses_(std::move(onLosses)) {
  if (file_ == nullptr) return;
  line_ = std::make_unique<char[]>(kMaxLineBytes);
  buffer_.reserve(kBatchBytes + kMaxLineBytes);
}

void AccessLog::append(const AccessRecord& record) {
  if (!enabled()) return;
  const std::string_view line = render(record);
  if (buffer_.size() + line.size() > kMaxBuffered) {
    countLost(1);
    return;
  }
  buffer_.append(line);
}

std::string_view AccessLog::render(const AccessRecord& record) {
  LineWriter out(line_.get());
  out.literal(R"({"time":")");
  out.time(timestamp_.text(record.time));
  out.text(R"(","trace_id":)", record.traceId);
  out.text(R"(,"client.address":)", record.clientAddress);
  out.text(R"(,"http.request.method":)", record.method);
  out.text(R"(,"url.scheme":)", record.scheme);
  out.text(R"(,"server.address":)", record.serverAddress);
  out.text(R"(,"url.path":)", pathOf(record.path), kMaxPathBytes);
  out.text(R"(,"network.protocol.version":)", record.protocolVersion);
  if (record.status != 0) {
    out.number(R"(,"http.response.status_code":)", record.status);
  } else {
    out.literal(R"(,"http.response.status_code":null)");
  }
  out.word(R"(,"error.type":)", record.failure ? base::errorTypeName(record.failure->type) : "");
  out.word(R"(,"error.origin":)", record.failure ? base::errorOriginName(record.failure->origin) : "");
  out.milliseconds(R"(,"duration_ms":)", record.duration);
  out.milliseconds(R"(,"upstream_duration_ms":)", record.upstreamDuration);
  out.number(R"(,"request_bytes":)", record.requestBytes);
  out.number(R"(,"response_bytes":)", record.responseBytes);
  out.text(R"(,"upstream.address":)", record.upstreamAddress);
  out.text(R"(,"gateway":)", record.gateway);
  out.text(R"(,"listener":)", record.listener);
  out.text(R"(,"route":)", record.route);
  out.text(R"(,"backend":)", record.backend);
  out.text(R"(,"namespace":)", record.nameSpace);
  out.text(R"(,"serviceAccount":)", record.serviceAccount);
  out.text(R"(,"principal":)", record.principal);
  out.word(R"(,"assurance":)", record.assurance);
  out.number(R"(,"attempts":)", record.attempts);
  out.text(R"(,"processor":)", record.processor);
  out.text(R"(,"revision":)", record.revision);
  out.text(R"(,"error.message":)", record.errorMessage, kMaxMessageBytes);
  out.text(R"(,"request_id":)", record.requestId);
  out.text(R"(,"span_id":)", record.spanId);
  if (!record.retryRefused.empty()) out.word(R"(,"retry_refused":)", record.retryRefused);
  if (!record.policy.empty()) {
    out.text(R"(,"policy":)", record.policy);
    out.text(R"(,"rule":)", record.rule);
    out.word(R"(,"decision":)", record.decision);
  }
  if (record.proxied != nullptr) {
    out.word(R"(,"way":)", record.proxied->way);
    if (record.proxied->isTunnel) {
      out.word(R"(,"network.protocol.name":)", record.proxied->protocol);
      out.text(R"(,"tls.server_name":)", record.proxied->serverName);
      out.word(R"(,"tunnel.end":)", record.proxied->end);
    }
  }
  out.literal("}\n");
  return out.line();
}

void AccessLog::flush() {
  if (buffer_.empty()) return;
  const LineFile::Outcome outcome = file_->write(buffer_);
  buffer_.erase(0, outcome.taken);
  if (outcome.end == LineFile::End::kFailed || outcome.end == LineFile::End::kUnopened) {
    countLost(static_cast<std::uint64_t>(std::count(buffer_.begin(), buffer_.end(), '\n')));
    buffer_.clear();
  }
  nextFlush_ = buffer_.size() + kBatchBytes;
  if (log_ != nullptr) reportLosses(outcome.end);
}

void AccessLog::countLost(std::uint64_t lines) {
  dropped_ += lines;
  if (losses_ != nullptr) losses_->add(lines);
}

void AccessLog::reportLosses(LineFile::End end) {
  if (dropped_ == told_) return;
  if (end == LineFile::End::kDone) {
    log_->warn("the access log accepts lines again", {{"lost", dropped_ - told_}});
    told_ = dropped_;
    losing_ = false;
  } else if (!std::exchange(losing_, true)) {
    log_->warn("access log lines are being lost", {{"reason", reasonOf(end)}});
    onLosses_(reasonOf(end));
  }
}

}  // namespace sluice::observe
