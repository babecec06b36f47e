// HTTP/2 by hand, for tests that send frames which no library would send: frames as bytes, one by one, and a reader
// that splits a peer's bytes into frames (RFC 9113, RFC 7541). Field lines are literals without indexing, so they may
// contain any byte. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_hd_inflater;

namespace sluice::test {

using H2Lines = std::vector<std::pair<std::string, std::string>>;

enum class H2Type : std::uint8_t {
  kData = 0x0,
  kHeaders = 0x1,
  kPriority = 0x2,
  kRstStream = 0x3,
  kSettings = 0x4,
  kPushPromise = 0x5,
  kPing = 0x6,
  kGoaway = 0x7,
  kWindowUpdate = 0x8,
  kContinuation = 0x9
};

namespace h2flag {
inline constexpr std::uint8_t kNone = 0x0;
inline constexpr std::uint8_t kAck = 0x1;
inline constexpr std::uint8_t kEndStream = 0x1;
inline constexpr std::uint8_t kEndHeaders = 0x4;
inline constexpr std::uint8_t kPadded = 0x8;
inline constexpr std::uint8_t kPriority = 0x20;
}  // namespace h2flag

/// These are the codes of RFC 9113 section 7.
namespace h2error {
inline constexpr std::uint32_t kNoError = 0x0;
inline constexpr std::uint32_t kProtocolError = 0x1;
inline constexpr std::uint32_t kInternalError = 0x2;
inline constexpr std::uint32_t kFlowControlError = 0x3;
inline constexpr std::uint32_t kStreamClosed = 0x5;
inline constexpr std::uint32_t kFrameSizeError = 0x6;
inline constexpr std::uint32_t kRefusedStream = 0x7;
inline constexpr std::uint32_t kCancel = 0x8;
inline constexpr std::uint32_t kCompressionError = 0x9;
inline constexpr std::uint32_t kEnhanceYourCalm = 0xb;
}  // namespace h2error

/// An identifier of RFC 9113 section 6.5.2.
namespace h2setting {
inline constexpr std::uint16_t kInitialWindowSize = 0x4;
}  // namespace h2setting

/// Functions that return frames as bytes. Nothing is checked: a malformed argument makes a malformed frame.
namespace h2 {

std::string_view preface();
std::string frame(H2Type type, std::uint8_t flags, std::uint32_t stream, std::string_view payload);

/// Return one line as an HPACK literal without indexing, and several of them.
std::string line(std::string_view name, std::string_view value);
std::string block(const H2Lines& lines);
/// Return an HPACK literal that enters the dynamic table (its newest entry has index 62), and a reference to an entry.
std::string indexedLine(std::string_view name, std::string_view value);
std::string reference(std::uint8_t index);
/// Returns a never-indexed HPACK literal (RFC 7541 section 6.2.3).
std::string secretLine(std::string_view name, std::string_view value);

std::string headers(std::uint32_t stream, std::string_view block, bool endStream, bool endHeaders = true);
std::string headers(std::uint32_t stream, const H2Lines& lines, bool endStream);
std::string continuation(std::uint32_t stream, std::string_view block, bool endHeaders);
std::string data(std::uint32_t stream, std::string_view bytes, bool endStream);
std::string rstStream(std::uint32_t stream, std::uint32_t code);
std::string settings(const std::vector<std::pair<std::uint16_t, std::uint32_t>>& entries);
std::string settingsAck();
std::string ping(bool ack = false);
std::string goaway(std::uint32_t lastStream, std::uint32_t code);
std::string windowUpdate(std::uint32_t stream, std::uint32_t increment);
std::string priority(std::uint32_t stream, std::uint32_t dependsOn);

/// Returns the preface and an empty SETTINGS, with which a client begins.
std::string clientHello();
/// Returns the pseudo-header fields of a plain GET of `path` at example.com over `scheme`.
H2Lines get(std::string_view path = "/", std::string_view scheme = "http");
H2Lines post(std::string_view path = "/", std::string_view scheme = "http");

}  // namespace h2

struct H2Frame {
  H2Type type{};
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;               // with its padding, if any
  H2Lines lines;                     // of the whole field block, on the frame that ended it
  std::vector<std::string> secrets;  // the names of the lines that are never-indexed literals

  bool endsStream() const { return (flags & h2flag::kEndStream) != 0; }
  /// Returns the error code of RST_STREAM and GOAWAY.
  std::uint32_t errorCode() const;
  /// Returns the last stream of GOAWAY, or the increment of WINDOW_UPDATE.
  std::uint32_t firstWord() const;
  /// Returns the last value of this identifier in SETTINGS; nothing if there is none.
  std::optional<std::uint32_t> setting(std::uint16_t id) const;
  /// Returns "" if the block has no such line.
  std::string value(std::string_view name) const;
};

class H2FrameReader {
 public:
  H2FrameReader();
  ~H2FrameReader();
  H2FrameReader(const H2FrameReader&) = delete;
  H2FrameReader& operator=(const H2FrameReader&) = delete;

  /// Takes a peer's bytes, in any pieces, and appends the whole frames among them to frames(). Skips a client's
  /// preface.
  void feed(std::string_view bytes);
  const std::vector<H2Frame>& frames() const { return frames_; }
  void forget() { frames_.clear(); }
  /// Returns false once a field block could not be decoded.
  bool sound() const { return sound_; }

  /// Returns the first such frame, or nullptr.
  const H2Frame* find(H2Type type, std::uint32_t stream) const;
  const H2Frame* goaway() const { return find(H2Type::kGoaway, 0); }
  std::size_t count(H2Type type) const;
  /// Returns the sum of the WINDOW_UPDATEs of a stream, or with 0 of the connection.
  std::uint64_t granted(std::uint32_t stream) const;
  /// Returns the joined DATA of a stream.
  std::string body(std::uint32_t stream) const;

 private:
  void take(H2Frame&& frame);
  void inflate(H2Frame& frame);

  nghttp2_hd_inflater* inflater_ = nullptr;
  std::string bytes_;
  std::string block_;
  std::vector<H2Frame> frames_;
  bool begun_ = false;
  bool sound_ = true;
};

}  // namespace sluice::test
