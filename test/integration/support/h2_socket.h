// A raw socket that speaks HTTP/2: what h2_frames.h writes goes out as it is, what arrives is read frame by frame. One
// thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "test/integration/support/socket.h"
#include "test/support/h2_frames.h"

namespace sluice::test {

class H2Socket {
 public:
  /// A client with prior knowledge (RFC 9113 section 3.3), which begins by its preface and `settings`.
  explicit H2Socket(std::uint16_t port, std::string_view settings = h2::settings({}));
  /// A server on a connection that it accepted: reads the preface, and begins by `settings`.
  explicit H2Socket(Socket&& accepted, std::string_view settings = h2::settings({}));

  bool send(std::string_view bytes) { return socket_.send(bytes); }
  /// Reads frames until `done`; false if the peer ended, or time ran out, before that.
  bool readUntil(const std::function<bool()>& done, std::chrono::milliseconds patience = kPatience);
  /// Until there is such a frame.
  bool readUntil(H2Type type, std::uint32_t stream);
  /// Until the stream's END_STREAM.
  bool readResponse(std::uint32_t stream);
  /// Until the peer ends; true if it did.
  bool readToEnd();
  /// The peer has taken all that was sent so far: a PING behind it is answered.
  bool isServed();

  const H2FrameReader& frames() const { return frames_; }
  /// The first ":status" of a stream; "" if there is none yet.
  std::string status(std::uint32_t stream) const;
  /// What the peer's SETTINGS say; `otherwise` if they do not.
  std::uint32_t setting(std::uint16_t id, std::uint32_t otherwise) const;
  /// The sum of the WINDOW_UPDATEs of a stream; 0 is the connection.
  std::uint64_t windowUpdates(std::uint32_t stream) const;
  /// The error code of the peer's last GOAWAY, or -1.
  std::int64_t goodbye() const;

 private:
  std::size_t pongs() const;
  bool readFrame(std::chrono::milliseconds patience);

  Socket socket_;
  H2FrameReader frames_;
};

}  // namespace sluice::test
