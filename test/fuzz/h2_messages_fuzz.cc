// Sends one message of HTTP/2 to our codec and to nghttp2, whose own checks of messages are on there and off in our
// codec (RFC 9113 section 8). After each frame, both have reset the stream for a malformed message, or neither has. Our
// codec alone refuses Host in trailers of a request, and statuses that HTTP/2 does not have; nghttp2 alone refuses the
// length of a 204, and looks at the names and values of trailers behind a message that nobody reads.
//
// The first byte chooses the side, the method of the request, and whether frames come in pieces. The others are lines
// of text: ">" begins HEADERS and "=7" is DATA of seven bytes, with END_STREAM if an "E" follows the sign; any other
// line is a name, a space and a value, in which "`" stands for a line break and "~" for a space of the name.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/field_grammar.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

constexpr std::array<std::string_view, 3> kMethods = {"GET", "HEAD", "POST"};

struct MessageFrame {
  bool isHead = false;
  bool ends = false;
  std::size_t bytes = 0;  // of DATA
  H2Lines lines;          // of HEADERS

  std::string_view value(std::string_view name) const {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
    return found == lines.end() ? std::string_view() : std::string_view(found->second);
  }
  std::string text() const { return isHead ? h2::headers(1, lines, ends) : h2::data(1, std::string(bytes, 'x'), ends); }
};

// Returns the number with which the text begins, or 0.
std::size_t numberIn(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Puts in the bytes that the lines of an input cannot have.
std::string withSpecials(std::string_view text, char tilde) {
  std::string result(text);
  std::replace(result.begin(), result.end(), '`', '\n');
  std::replace(result.begin(), result.end(), '~', tilde);
  return result;
}

// Returns the frames up to the first END_STREAM. A message begins with HEADERS. Windows and bounds of size are no part
// of this.
std::vector<MessageFrame> messageFrames(std::string_view text) {
  constexpr std::size_t kMostText = 2000;
  constexpr std::size_t kMostBytes = 500;
  constexpr std::size_t kMostFrames = 12;
  constexpr std::size_t kMostLines = 30;
  std::vector<MessageFrame> frames;
  text = text.substr(0, kMostText);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool head = line.starts_with('>');
    const bool data = line.starts_with('=');
    if (head || (data && !frames.empty())) {
      if (frames.size() == kMostFrames || (!frames.empty() && frames.back().ends)) break;
      const bool ends = line.substr(1).starts_with('E');
      frames.push_back({head, ends, numberIn(line.substr(ends ? 2 : 1)) % kMostBytes, {}});
    } else if (!data && !frames.empty() && frames.back().isHead && frames.back().lines.size() < kMostLines) {
      const std::string_view name = line.substr(0, line.find(' '));
      const std::string_view value = line.substr(std::min(name.size() + 1, line.size()));
      frames.back().lines.emplace_back(withSpecials(name, ' '), withSpecials(value, '~'));
    }
  }
  return frames;
}

bool hasGoaway(const H2FrameReader& sent) { return sent.goaway() != nullptr; }

bool hasResetMessage(const H2FrameReader& sent) {
  const H2Frame* reset = sent.find(H2Type::kRstStream, 1);
  return reset != nullptr && reset->errorCode() == h2error::kProtocolError;
}

// A session of nghttp2 that refuses malformed lines, instead of leaving them out.
class CheckingLibrary {
 public:
  CheckingLibrary(bool server, std::string_view method) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(
        callbacks, [](nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf*, nghttp2_rcbuf*, std::uint8_t, void*) {
          return static_cast<int>(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
        });
    (server ? nghttp2_session_server_new : nghttp2_session_client_new)(&session_, callbacks, nullptr);
    nghttp2_session_callbacks_del(callbacks);
    const std::array<nghttp2_settings_entry, 2> settings{
        {{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}, {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), server ? 2 : 1);
    if (!server) submitRequest(method);
    take();
  }
  CheckingLibrary(const CheckingLibrary&) = delete;
  CheckingLibrary& operator=(const CheckingLibrary&) = delete;
  ~CheckingLibrary() { nghttp2_session_del(session_); }

  void feed(std::string_view bytes) {
    nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    take();
  }
  bool hasReset() const { return hasResetMessage(sent_); }
  bool hasEnded() const { return hasGoaway(sent_); }

 private:
  void submitRequest(std::string_view method) {
    std::vector<nghttp2_nv> lines;
    for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{":method", method},
                                      {":scheme", "https"},
                                      {":path", "/"},
                                      {":authority", "example.com"}}) {
      lines.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                       reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                       NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_submit_request(session_, nullptr, lines.data(), lines.size(), nullptr, nullptr);
  }
  void take() {
    const std::uint8_t* bytes = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &bytes)) > 0;)
      sent_.feed({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  }

  nghttp2_session* session_ = nullptr;
  H2FrameReader sent_;
};

class CheckedServer {
 public:
  void feed(std::string_view bytes) {
    codec_->feed(bytes);
    sent_.feed(produced(*codec_, pool_));
  }
  bool hasReset() const { return hasResetMessage(sent_); }
  bool hasEnded() const { return hasGoaway(sent_); }
  /// Returns true if nobody reads what follows the head.
  bool discards() const {
    return sink_.count() > 0 && (sink_.last().bad || sink_.last().message.head.body == http::Body::kNone);
  }
  /// Returns true if our codec may refuse a message that nghttp2 takes.
  static bool isStricter(const MessageFrame& frame, bool trailers) { return trailers && !frame.value("host").empty(); }
  /// Returns true if our codec may take a message that nghttp2 refuses.
  static bool isLooser(const MessageFrame& /*frame*/) { return false; }

 private:
  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  mutable RecordingServerSink sink_{pool_};
  std::unique_ptr<http::ServerCodec> codec_ =
      http::makeH2ServerCodec(sink_, pool_, limits_, http::Scheme::kHttp, clock_);
  H2FrameReader sent_;
};

class CheckedClient {
 public:
  explicit CheckedClient(std::string_view method) {
    limits_.informationalResponses = 100;
    codec_ = http::makeH2ClientCodec(sink_, pool_, limits_, clock_);
    http::RequestHead head;
    head.methodText = method;
    head.method = http::methodFrom(method);
    head.authority = "example.com";
    head.target = "/";
    codec_->sendRequest(sink_.open().token, head, http::Scheme::kHttps);
    feed("");
  }

  void feed(std::string_view bytes) {
    codec_->feed(bytes);
    sent_.feed(produced(*codec_, pool_));
  }
  bool hasReset() const { return hasResetMessage(sent_); }
  bool hasEnded() const { return hasGoaway(sent_); }
  bool discards() const { return sink_.last().answered && sink_.last().message.head.body == http::Body::kNone; }
  static bool isStricter(const MessageFrame& frame, bool trailers) {
    const std::size_t status = numberIn(frame.value(":status"));
    return !trailers && (status < 100 || status > 999 || status == 101);
  }
  static bool isLooser(const MessageFrame& frame) {
    return frame.value(":status") == "204" && !frame.value("content-length").empty();
  }

 private:
  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  mutable RecordingClientSink sink_{pool_};
  std::unique_ptr<http::ClientCodec> codec_;
  H2FrameReader sent_;
};

// Returns true if a name or a value of trailers is malformed.
bool hasMalformedText(const MessageFrame& frame) {
  return std::any_of(frame.lines.begin(), frame.lines.end(), [](const auto& line) {
    const auto isUpper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool lower = std::none_of(line.first.begin(), line.first.end(), isUpper);
    const bool pseudo = line.first.starts_with(':');
    return !pseudo && (!lower || !http::isFieldName(line.first) || !http::isFieldValue(line.second));
  });
}

template <typename Checked>
void compare(Checked& ours, CheckingLibrary& library, std::string_view hello, std::string_view text, bool inPieces) {
  ours.feed(hello);
  library.feed(hello);
  bool trailers = false;
  for (const MessageFrame& frame : messageFrames(text)) {
    const bool unread = trailers && frame.isHead && ours.discards() && hasMalformedText(frame);
    const std::string bytes = frame.text();
    const std::size_t first = inPieces ? bytes.size() / 2 : 0;
    ours.feed(bytes.substr(0, first));
    ours.feed(bytes.substr(first));
    library.feed(bytes);
    require(ours.hasEnded() == library.hasEnded(), "both go on, or neither does");
    if (ours.hasReset() && !library.hasReset()) {
      require(frame.isHead && Checked::isStricter(frame, trailers), "nghttp2 takes what our codec refuses");
    }
    if (library.hasReset() && !ours.hasReset()) {
      require(unread || Checked::isLooser(frame), "nghttp2 refuses what our codec takes");
    }
    if (library.hasReset() || ours.hasReset()) return;
    trailers = frame.isHead ? !frame.value(":status").starts_with('1') : trailers;
  }
}

}  // namespace
}  // namespace sluice::test

int sluice::test::fuzzH2Messages(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view method = sluice::test::kMethods[data[0] / 2 % sluice::test::kMethods.size()];
  const bool server = data[0] % 2 == 0;
  const bool inPieces = data[0] / 6 % 2 == 1;
  sluice::test::CheckingLibrary library(server, method);
  if (server) {
    sluice::test::CheckedServer ours;
    sluice::test::compare(ours, library, sluice::test::h2::clientHello(), text, inPieces);
  } else {
    sluice::test::CheckedClient ours(method);
    sluice::test::compare(ours, library, sluice::test::h2::settings({}), text, inPieces);
  }
  return 0;
}
