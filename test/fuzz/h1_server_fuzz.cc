// Feeds a client's bytes to the HTTP/1.x server codec in random pieces, answers in random ways, and checks what must
// always hold.
#include <cctype>
#include <memory>
#include <string>

#include "proxy/http/codec.h"
#include "proxy/http/hygiene.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/h1_sections.h"
#include "test/support/recording_sinks.h"

namespace sluice {
namespace {

using test::require;

// Checks the guarantees that hygiene gives to all later code.
void checkHead(const http::RequestHead& head) {
  require(http::isFieldName(head.methodText), "the method is a token");
  require(head.target == "*" || head.target.starts_with('/'), "the target is in origin form");
  for (const char c : head.target) require(c > 0x20 && c < 0x7F && c != '#', "the target is printable");
  require(head.path().find("/../") == std::string_view::npos, "the path has no dot segments");
  require(head.body != http::Body::kLength || head.contentLength > 0, "a length is more than 0");
  require(head.body != http::Body::kTunnel || head.method == http::Method::kGet, "a tunnel is asked for by GET");
  base::ChunkPool pool;
  base::Arena arena(pool);
  if (head.target != "*") {
    auto again = http::normalizeTarget(arena, head.target, http::kAnySlashes);
    require(again.ok() && again->text == head.target, "the normal form is stable");
    require(again->unusualSlashes == head.unusualSlashes, "unusual slashes are marked");
  }
  if (!head.authority.empty()) {
    auto again = http::normalizeAuthority(arena, head.authority);
    require(again.ok() && *again == head.authority, "the authority is normal");
  }
  for (const http::Field& field : head.headers) {
    require(http::isFieldName(field.name) && http::isFieldValue(field.value), "fields follow the grammar");
    require(http::fieldId(field.name) == field.id, "names are interned");
    for (const http::FieldId id :
         {http::FieldId::kHost, http::FieldId::kContentLength, http::FieldId::kTransferEncoding,
          http::FieldId::kConnection, http::FieldId::kTe, http::FieldId::kUpgrade}) {
      require(field.id != id, "control data is not repeated");
    }
  }
}

bool asksForTunnel(const test::RecordingServerSink::RecordedRequest& stream) {
  return !stream.bad && stream.message.head.body == http::Body::kTunnel;
}

void answer(http::ServerCodec& codec, test::RecordingServerSink::RecordedRequest& stream, std::uint32_t choice) {
  http::ResponseHead head;
  head.status = choice % 2 == 0 ? 200 : 404;
  if (asksForTunnel(stream) && choice % 3 != 0) {
    head.status = http::kSwitchingProtocols;
    head.body = http::Body::kTunnel;
    head.tunnel = http::Tunnel::kWebSocket;
    stream.response.bytes.append("hello");
    return codec.sendResponse(stream.id, head);
  }
  switch (choice % 5) {
    case 0:
      break;
    case 1:
      head.body = http::Body::kLength;
      head.contentLength = 5;
      stream.response.bytes.append("hello");
      stream.response.finish();
      break;
    case 2:
      head.body = http::Body::kUntilEnd;
      stream.response.bytes.append("hello");
      stream.response.finish();
      break;
    case 3:
      head.body = http::Body::kUntilEnd;
      stream.response.bytes.append("hello");
      stream.response.breakOff();
      break;
    default:
      return codec.reset(stream.id, http::ResetReason::kFailed);
  }
  codec.sendResponse(stream.id, head);
}

void driveTunnel(http::ServerCodec& codec, test::RecordingServerSink::RecordedRequest& stream, test::FuzzInput& input) {
  if (input.next() % 8 == 0) stream.response.finish();
  codec.wake(stream.id);
  require(!codec.halfClosed() || (stream.response.drained() && !stream.sent), "half closed is half done");
}

void drive(http::ServerCodec& codec, test::RecordingServerSink& sink, base::ChunkPool& pool, test::FuzzInput& input) {
  if (sink.count() > 0) {
    auto& stream = sink.last();
    const bool mayAnswer = stream.ended || stream.bad || stream.reset || asksForTunnel(stream) || input.next() % 8 == 0;
    if (!stream.sent && !codec.halfClosed() && mayAnswer && input.next() % 2 == 0) answer(codec, stream, input.next());
    if (!stream.ended && input.next() % 2 == 0) codec.grant(stream.id, 1 + input.next() % 64);
    if (asksForTunnel(stream)) driveTunnel(codec, stream, input);
  }
  if (input.next() % 2 == 0) test::produced(codec, pool, 1 + input.next() % 1000);
  codec.resume();
}

// The reader of whole sections and the one of lines understand the same.
void compareReaders(std::string_view text, const http::MessageBounds& bounds) {
  for (const auto kind : {http::H1Section::kRequest, http::H1Section::kTrailers}) {
    require(test::readSection(kind, text, bounds, test::SectionReading::kAtOnce) ==
                test::readSection(kind, text, bounds, test::SectionReading::kByLines),
            "a section is read the same at once and line by line");
  }
}

void runServerCodec(const std::uint8_t* data, std::size_t size) {
  test::FuzzInput input(data, size);
  base::ChunkPool pool;
  {
    http::Limits limits;
    limits.streamWindow = 64;
    limits.headerFields = 12;
    limits.headerBytes = 2048;
    limits.requestLineBytes = 512;
    compareReaders(input.rest(), limits);
    test::RecordingServerSink sink(pool);
    auto codec = http::makeH1ServerCodec(sink, pool, limits, http::Scheme::kHttp);
    std::size_t checked = 0;
    for (int idle = 0; !input.empty() && idle < 64;) {
      const std::size_t budget = codec->readBudget();
      // An owner may read more bytes before it learns that the budget is used up, but only a bounded number.
      const std::string_view piece =
          budget > 0 || input.next() % 16 == 0 ? input.piece(std::max<std::size_t>(budget, 16)) : "";
      idle = piece.empty() ? idle + 1 : 0;
      codec->feed(piece);
      for (; checked < sink.count(); ++checked) {
        if (!sink.stream(checked).bad) checkHead(sink.stream(checked).message.head);
      }
      drive(*codec, sink, pool, input);
      test::require(codec->state() != http::CodecState::kClosed || codec->readBudget() == 0,
                    "closed means no more reading");
      test::require(sink.count() < 2 || sink.stream(sink.count() - 2).sent, "one exchange at a time");
      if (codec->state() == http::CodecState::kClosed) break;
    }
    if (input.next() % 2 == 0) {
      codec->feedEnd();
    } else {
      codec->feedLost();
    }
    drive(*codec, sink, pool, input);
  }
  test::require(pool.inUse() == 0, "all memory came back");
}

}  // namespace
}  // namespace sluice

int sluice::test::fuzzH1Server(const std::uint8_t* data, std::size_t size) {
  sluice::runServerCodec(data, size);
  return 0;
}
