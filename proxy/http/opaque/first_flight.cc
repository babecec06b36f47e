#include "proxy/http/opaque/first_flight.h"

#include <algorithm>
#include <array>
#include <optional>

#include "proxy/base/text.h"
#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::size_t kRecordHeader = 5;
constexpr std::size_t kMessageHeader = 4;
constexpr std::size_t kMostRecord = 16 * 1024;
constexpr std::size_t kMostRecords = 64;  // of one ClientHello
constexpr char kHandshakeRecord = 22;
constexpr char kTlsMajor = 3;
constexpr char kClientHello = 1;
constexpr std::size_t kRandom = 32;
constexpr std::size_t kServerNameExtension = 0;
constexpr std::size_t kHostName = 0;
constexpr std::size_t kLongestName = 255;
constexpr std::array<std::string_view, 10> kRequestLines = {
    "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ", "PATCH ", "PRI * HTTP/2.0"};

/// Reads numbers and vectors of TLS from the front of bytes. After a read beyond the end, everything is empty.
class TlsReader {
 public:
  explicit TlsReader(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return rest_.empty(); }
  std::size_t number(std::size_t size) {
    std::size_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  /// Returns a vector whose length comes before it, in that many bytes.
  std::string_view vector(std::size_t sizeOfLength) { return take(number(sizeOfLength)); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

enum class HelloStatus : std::uint8_t { kPartial, kEntire, kNone };

struct HelloMessage {
  HelloStatus status = HelloStatus::kPartial;
  std::string body = {};   // without the record and message headers
  std::size_t needed = 0;  // of a partial one: the least number of bytes that could say more
};

/// Joins the records of a ClientHello.
HelloMessage joinHello(std::string_view bytes) {
  std::string message;
  std::size_t used = 0;
  for (std::size_t records = 0; records < kMostRecords; ++records) {
    if (message.size() >= kMessageHeader) {
      TlsReader header(message);
      if (header.take(1)[0] != kClientHello) return {HelloStatus::kNone};
      const std::size_t size = header.number(3);
      if (size > FirstFlight::kMostHello) return {HelloStatus::kNone};
      if (message.size() >= kMessageHeader + size) return {HelloStatus::kEntire, message.substr(kMessageHeader, size)};
    }
    if (bytes.size() < used + kRecordHeader) return {HelloStatus::kPartial, {}, used + kRecordHeader};
    TlsReader record(bytes.substr(used));
    if (record.take(1)[0] != kHandshakeRecord || record.take(2)[0] != kTlsMajor) return {HelloStatus::kNone};
    const std::size_t size = record.number(2);
    if (size == 0 || size > kMostRecord) return {HelloStatus::kNone};
    used += kRecordHeader + size;
    if (bytes.size() < used) return {HelloStatus::kPartial, {}, used};
    message += bytes.substr(used - size, size);
  }
  return {HelloStatus::kNone};
}

/// Returns true for labels of letters, digits, "-" and "_" with single dots between them.
bool isHostName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name.front() == '.' || name.back() == '.') return false;
  return name.find("..") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || isDigit(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Returns the only host_name of the extension; nullopt if it is not well-formed.
std::optional<std::string> hostNameOf(std::string_view extension) {
  TlsReader outer(extension);
  TlsReader names(outer.vector(2));
  const std::size_t type = names.number(1);
  std::string name = base::toLower(std::string(names.vector(2)));
  const bool isWhole = !outer.failed() && outer.empty() && !names.failed() && names.empty();
  if (!isWhole || type != kHostName) return std::nullopt;
  if (name.ends_with('.')) name.pop_back();
  return isHostName(name) ? std::optional(std::move(name)) : std::nullopt;
}

/// Returns the name in a ClientHello, which is empty if there is none; nullopt if the hello is malformed.
std::optional<std::string> serverNameIn(std::string_view hello) {
  TlsReader reader(hello);
  reader.take(2 + kRandom);
  reader.vector(1);                                              // session id
  reader.vector(2);                                              // cipher suites
  reader.vector(1);                                              // compression methods
  if (!reader.failed() && reader.empty()) return std::string();  // TLS 1.2 without extensions
  TlsReader extensions(reader.vector(2));
  if (reader.failed() || !reader.empty()) return std::nullopt;
  std::string found;
  while (!extensions.empty()) {
    const std::size_t type = extensions.number(2);
    const std::string_view content = extensions.vector(2);
    if (extensions.failed()) return std::nullopt;
    if (type != kServerNameExtension) continue;
    auto name = hostNameOf(content);
    if (!name || !found.empty()) return std::nullopt;
    found = *std::move(name);
  }
  return found;
}

/// Returns whether the bytes begin a request of HTTP; nullopt if more bytes decide.
std::optional<bool> beginsRequest(std::string_view bytes) {
  bool undecided = false;
  for (const std::string_view line : kRequestLines) {
    if (bytes.starts_with(line)) return true;
    undecided = undecided || line.starts_with(bytes);
  }
  return undecided ? std::nullopt : std::optional(false);
}

}  // namespace

std::string_view protocolName(StreamProtocol protocol) {
  switch (protocol) {
    case StreamProtocol::kTcp:
      return "tcp";
    case StreamProtocol::kTls:
      return "tls";
    case StreamProtocol::kHttp:
      return "http";
  }
  return {};
}

void FirstFlight::add(std::string_view bytes) {
  if (known_ || bytes.empty()) return;
  begun_ = true;
  seen_ += bytes.substr(0, kMostHello - std::min(seen_.size(), kMostHello));
  look();
}

void FirstFlight::look() {
  if (seen_.front() == kHandshakeRecord) return lookAtHello();
  if (const auto isRequest = beginsRequest(seen_)) settle(*isRequest ? StreamProtocol::kHttp : StreamProtocol::kTcp);
}

void FirstFlight::lookAtHello() {
  if (seen_.size() < needed_ && seen_.size() < kMostHello) return;
  const HelloMessage hello = joinHello(seen_);
  needed_ = hello.needed;
  if (hello.status == HelloStatus::kPartial && seen_.size() < kMostHello) return;
  serverName_ = hello.status == HelloStatus::kEntire ? serverNameIn(hello.body) : std::nullopt;
  settle(StreamProtocol::kTls);
}

void FirstFlight::finish() {
  if (known_) return;
  const bool isTls = !seen_.empty() && seen_.front() == kHandshakeRecord;
  if (isTls) serverName_.reset();
  settle(isTls ? StreamProtocol::kTls : StreamProtocol::kTcp);
}

void FirstFlight::settle(StreamProtocol protocol) {
  protocol_ = protocol;
  known_ = true;
  seen_ = {};
}

}  // namespace sluice::http
