// A client of HTTP/2 that sends frame by frame over a real socket, including invalid frames. Blocking; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "test/integration/support/blocking_socket.h"
#include "test/support/h2_frames.h"

namespace sluice::test {

class H2Client {
 public:
  /// Connects to 127.0.0.1 and sends `hello`.
  explicit H2Client(std::uint16_t port, const std::string& hello = h2::clientHello() + h2::settingsAck());
  /// Plays a server on a connection that it accepted, and sends its SETTINGS first.
  explicit H2Client(BlockingSocket&& accepted);

  /// Returns false if the gateway takes nothing more for `patience`, or is gone.
  bool send(std::string_view bytes, std::chrono::milliseconds patience = kPatience) {
    return socket_.send(bytes, patience);
  }
  /// Reads until `holds` returns true; returns false if the connection ended or time ran out before.
  bool readUntil(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience);
  /// Reads until there is such a frame, or the END_STREAM of the stream.
  bool readFrame(H2Type type, std::uint32_t stream);
  bool readStream(std::uint32_t stream);
  /// Sends a PING and reads until it is acknowledged, which means that everything before it was read.
  bool isServed();
  /// Waits until the gateway has read everything that was sent.
  bool waitUntilRead() const { return socket_.waitUntilRead(); }
  /// Reads until the gateway ends the connection; returns false if it does not.
  bool readToEnd();
  bool closed() const { return closed_; }
  void reset() { socket_.reset(); }

  const H2FrameReader& seen() const { return reader_; }
  /// Returns the status of the stream's response; "" if there was none.
  std::string status(std::uint32_t stream) const;
  /// Returns true if the stream was answered or reset, or the connection got a GOAWAY.
  bool isSettled(std::uint32_t stream) const;
  /// Returns kNoGoaway if there was none.
  std::uint32_t goawayCode() const;
  static constexpr std::uint32_t kNoGoaway = 0xffffffff;

 private:
  bool readSome(std::chrono::steady_clock::time_point until);

  BlockingSocket socket_;
  H2FrameReader reader_;
  bool closed_ = false;
};

}  // namespace sluice::test
