// Raw TCP for tests: exact bytes out, exact bytes in, and a deadline on everything. Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "test/integration/support/child_process.h"

namespace sluice::test {

/// Returns a port of 127.0.0.1 that the kernel does not assign again before the test, or the suite, that asks for it
/// has ended. Main thread.
std::uint16_t freePort();

class BlockingSocket {
 public:
  /// Connects to 127.0.0.1, from that address of 127.0.0.0/8; ok() returns the result. A small receive buffer makes
  /// this a slow reader.
  static BlockingSocket connect(std::uint16_t port, int receiveBuffer = 0, const char* from = "127.0.0.1");
  /// Connects to an IPv4 address, from whichever address leads there.
  static BlockingSocket connectTo(const std::string& address, std::uint16_t port);
  explicit BlockingSocket(int fd = -1) : fd_(fd) {}
  BlockingSocket(BlockingSocket&& other) noexcept;
  BlockingSocket& operator=(BlockingSocket&& other) noexcept;
  ~BlockingSocket();

  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  /// Sends everything; returns false if the peer is gone or takes nothing for too long.
  bool send(std::string_view bytes, std::chrono::milliseconds patience = kPatience);
  /// Sends until the peer takes nothing for `patience`, and returns how much was sent.
  std::size_t sendSome(std::string_view bytes, std::chrono::milliseconds patience);
  /// Reads up to and including `mark`, or returns the bytes until then if the peer ended or time ran out. Bytes after
  /// the mark stay for the next read.
  std::string readUntil(std::string_view mark, std::chrono::milliseconds patience = kPatience);
  /// Reads exactly `count` bytes, or returns as many as came.
  std::string readExactly(std::size_t count, std::chrono::milliseconds patience = kPatience);
  /// Reads everything until the peer ends; closed() then returns whether it did.
  std::string readAll(std::chrono::milliseconds patience = kPatience);
  /// Waits until the peer's program has read all that was sent to it, or has closed; returns false if it does not in
  /// time.
  bool waitUntilRead() const;
  /// Returns true if the peer has ended its side or reset the connection.
  bool closed() const { return closed_; }
  bool wasReset() const { return reset_; }
  /// Ends this side's sending; reading goes on.
  void shutdownWrite();
  /// Closes with RST.
  void reset();
  void close();

 private:
  static BlockingSocket connectBetween(const char* from, const char* to, std::uint16_t port, int receiveBuffer);
  bool fill(std::chrono::steady_clock::time_point until);

  int fd_ = -1;
  std::string buffer_;
  bool closed_ = false;
  bool reset_ = false;
};

/// A response of HTTP/1.1 as a raw client reads it.
struct ReceivedResponse {
  int status = 0;
  std::string head;  // including the empty line
  std::string body;  // with chunks joined
  /// Returns the value of a field, by its name in lower case, or nothing if it is not there.
  std::optional<std::string> field(std::string_view name) const;
};

/// Reads one whole response; status 0 if there was none. `bodiless`: the request was HEAD.
ReceivedResponse readResponse(BlockingSocket& socket, bool bodiless = false,
                              std::chrono::milliseconds patience = kPatience);

/// Reads the body after a request's head, with chunks joined; empty if the head announces none.
std::string readRequestBody(BlockingSocket& socket, std::string_view head,
                            std::chrono::milliseconds patience = kPatience);

}  // namespace sluice::test
