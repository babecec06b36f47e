// Encodes one request in two versions of HTTP, and compares the results. Lines of text are a field section, which the
// HTTP/2 server codec reads. A head that it accepts must be the same head if the same lines come in HTTP/1.1, and one
// that hygiene refuses must be refused with the same status. An accepted head that our HTTP/2 client codec writes must
// arrive unchanged at a server codec, also when both sides' HPACK tables contain its lines already.
//
// The first two bytes choose how lines are encoded and whether a body follows.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

// A request as lines, with pseudo-header fields among them.
struct SpokenRequest {
  H2Lines lines;
  bool endOfStream = true;
  std::uint8_t encodings = 0;

  std::string_view value(std::string_view name) const {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
    return found == lines.end() ? std::string_view() : std::string_view(found->second);
  }
  bool has(std::string_view name) const {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return line.first == name; });
  }
};

// A line is a name, a space and a value. The bounds of size are counted differently in the two versions, so a request
// stays far below them.
SpokenRequest spokenRequest(std::string_view text) {
  constexpr std::size_t kMostLines = 20;
  constexpr std::size_t kMostBytes = 1000;
  SpokenRequest request;
  if (text.size() < 2) return request;
  request.encodings = static_cast<std::uint8_t>(text[0]);
  request.endOfStream = static_cast<std::uint8_t>(text[1]) % 2 == 0;
  text = text.substr(2, kMostBytes);
  while (!text.empty() && request.lines.size() < kMostLines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view name = line.substr(0, line.find(' '));
    request.lines.emplace_back(name, line.substr(std::min(name.size() + 1, line.size())));
  }
  return request;
}

std::string fieldBlock(const SpokenRequest& request) {
  std::string block;
  std::uint8_t encodings = request.encodings;
  for (const auto& [name, value] : request.lines) {
    const auto encode = encodings % 4 == 1 ? h2::indexedLine : encodings % 4 == 2 ? h2::secretLine : h2::line;
    block += encode(name, value);
    encodings = static_cast<std::uint8_t>(encodings << 6 | encodings >> 2);
  }
  return block;
}

// One server codec, and what it has read.
class ReadingServer {
 public:
  enum class Version : std::uint8_t { kHttp11, kHttp2 };

  explicit ReadingServer(Version version) {
    codec_ = version == Version::kHttp2 ? http::makeH2ServerCodec(sink_, pool_, limits_, http::Scheme::kHttp, clock_)
                                        : http::makeH1ServerCodec(sink_, pool_, limits_, http::Scheme::kHttp);
  }
  void feed(std::string_view bytes) { codec_->feed(bytes); }
  std::string output() { return produced(*codec_, pool_); }
  bool heard() const { return sink_.count() > 0; }
  std::size_t count() const { return sink_.count(); }
  RecordingServerSink::RecordedRequest& last() { return sink_.last(); }

 private:
  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  RecordingServerSink sink_{pool_};
  std::unique_ptr<http::ServerCodec> codec_;
};

// Returns false if the lines have no equal in HTTP/1.1: its request line has a place for a scheme only beside an
// authority, and a tunnel is requested in another way.
bool sayInHttp11(const SpokenRequest& request, std::string& bytes) {
  const std::string_view target = request.value(":path");
  const std::string_view scheme = request.value(":scheme");
  if ((scheme != "http" && scheme != "https") || request.has(":protocol")) return false;
  const bool both = request.has(":authority") && request.has("host");
  const bool whole = both || scheme == "https";
  if (whole && (!target.starts_with('/') || !request.has(":authority"))) return false;
  bytes.append(request.value(":method")).append(" ");
  if (whole) bytes.append(scheme).append("://").append(request.value(":authority"));
  bytes.append(target).append(" HTTP/1.1\r\n");
  if (request.has(":authority") && !both) bytes.append("Host: ").append(request.value(":authority")).append("\r\n");
  for (const auto& [name, value] : request.lines) {
    if (!name.starts_with(':')) bytes.append(name).append(": ").append(value).append("\r\n");
  }
  if (!request.endOfStream && !request.has("content-length")) bytes.append("Transfer-Encoding: chunked\r\n");
  bytes.append("\r\n");
  return true;
}

void requireSame(const http::RequestHead& a, const http::RequestHead& b) {
  require(a.methodText == b.methodText && a.method == b.method, "the methods are the same");
  require(a.authority == b.authority, "the authorities are the same");
  require(a.target == b.target && a.unusualSlashes == b.unusualSlashes, "the targets are the same");
  require(a.sentPath == b.sentPath, "the paths were sent alike");
  require(a.body == b.body && a.contentLength == b.contentLength, "the bodies are the same");
  require(a.expectContinue == b.expectContinue, "the expectations are the same");
  require(fieldList(a.headers) == fieldList(b.headers), "the fields are the same");
}

// Encodes the request in HTTP/1.1 too, and compares.
void compareVersions(const SpokenRequest& request, RecordingServerSink::RecordedRequest& read) {
  std::string bytes;
  if (!sayInHttp11(request, bytes)) return;
  ReadingServer server(ReadingServer::Version::kHttp11);
  server.feed(bytes);
  require(server.heard(), "HTTP/1.1 hears of it");
  require(server.last().bad == read.bad, "both versions accept it, or none");
  if (read.bad) {
    require(server.last().error.status == read.error.status, "both versions refuse it with the same status");
  } else {
    requireSame(read.message.head, server.last().message.head);
  }
}

// Sends the head through our own client codec three times: the third time both HPACK tables know it.
void sendOn(const http::RequestHead& head) {
  base::ChunkPool pool;
  ManualClock clock;
  RecordingClientSink sink(pool);
  const auto client = http::makeH2ClientCodec(sink, pool, {}, clock);
  ReadingServer server(ReadingServer::Version::kHttp2);
  client->feed(server.output());
  for (std::size_t round = 1; round <= 3; ++round) {
    auto& stream = sink.open();
    require(client->sendRequest(stream.token, head, http::Scheme::kHttp) != 0, "a stream is free");
    if (head.body != http::Body::kNone) {
      stream.request.bytes.append(std::string(std::min<std::uint64_t>(head.contentLength, 100), 'x'));
      if (head.body == http::Body::kUntilEnd || head.contentLength <= 100) stream.request.finish();
    }
    server.feed(produced(*client, pool));
    client->feed(server.output());
    require(!stream.reset, "what was accepted can be sent on");
    require(server.count() == round && !server.last().bad, "what is sent on is accepted");
    const http::RequestHead& arrived = server.last().message.head;
    requireSame(head, arrived);
    require(head.acceptsTrailers == arrived.acceptsTrailers, "TE is the same");
    require(!head.secretControl || arrived.secretControl, "secret control data stays secret");
    for (std::size_t i = 0; i < head.headers.size(); ++i) {
      const bool secret = http::isSecret(head.headers.all()[i].care);
      require(!secret || http::isSecret(arrived.headers.all()[i].care), "a secret field stays secret");
    }
  }
}

}  // namespace
}  // namespace sluice::test

int sluice::test::fuzzRequestPair(const std::uint8_t* data, std::size_t size) {
  const SpokenRequest request = spokenRequest({reinterpret_cast<const char*>(data), size});
  ReadingServer server(ReadingServer::Version::kHttp2);
  server.feed(h2::clientHello());
  server.feed(h2::headers(1, fieldBlock(request), request.endOfStream));
  if (!server.heard()) return 0;  // nghttp2 has refused it: such lines cannot be encoded in HTTP/1.1 at all
  compareVersions(request, server.last());
  if (!server.last().bad && server.last().message.head.body != http::Body::kTunnel) sendOn(server.last().message.head);
  return 0;
}
