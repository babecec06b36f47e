// Raw TCP for tests: exact bytes out, exact bytes in, and a deadline on everything. Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "test/integration/support/process.h"

namespace sluice::test {

/// A port of 127.0.0.1 that nobody else gets before this process ends, unless he asks for it by number. Main thread.
std::uint16_t freePort();

class Socket {
 public:
  /// Connects to 127.0.0.1; ok() says whether it did. A small receive buffer makes a slow reader out of it.
  static Socket connect(std::uint16_t port, int receiveBuffer = 0);
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  /// All of it; false if the peer is gone or takes nothing for too long.
  bool send(std::string_view bytes, std::chrono::milliseconds patience = kPatience);
  /// As much as the peer takes within `patience` of silence; how much that was.
  std::size_t sendSome(std::string_view bytes, std::chrono::milliseconds patience);
  /// Up to and including `mark`; what there was until then if the peer ended or time ran out. Bytes behind it wait for
  /// the next read.
  std::string readUntil(std::string_view mark, std::chrono::milliseconds patience = kPatience);
  /// Exactly `count` bytes, or what there was.
  std::string readExactly(std::size_t count, std::chrono::milliseconds patience = kPatience);
  /// Everything until the peer ends; `closed()` then says whether it did.
  std::string readAll(std::chrono::milliseconds patience = kPatience);
  /// As soon as the peer's program has read all that was sent to it, or has closed; false if it does not in time.
  bool waitUntilRead() const;
  /// The peer has ended its side, or reset the connection.
  bool closed() const { return closed_; }
  bool wasReset() const { return reset_; }
  /// Nothing is sent any more; reading goes on.
  void shutdownWrite();
  /// RST.
  void reset();
  void close();

 private:
  bool fill(std::chrono::steady_clock::time_point until);

  int fd_ = -1;
  std::string buffer_;
  bool closed_ = false;
  bool reset_ = false;
};

/// A response of HTTP/1.1 as a raw client reads it.
struct RawResponse {
  int status = 0;
  std::string head;  // with the empty line
  std::string body;  // chunks taken apart
  /// The value of a field, by its name in lower case; nothing if it is not there.
  std::optional<std::string> field(std::string_view name) const;
};

/// Reads one whole response; status 0 if there was none. `bodiless`: it answers HEAD.
RawResponse readResponse(Socket& socket, bool bodiless = false, std::chrono::milliseconds patience = kPatience);

/// What follows the head of a request, chunks taken apart; empty if it announces no body.
std::string readRequestBody(Socket& socket, std::string_view head, std::chrono::milliseconds patience = kPatience);

}  // namespace sluice::test
