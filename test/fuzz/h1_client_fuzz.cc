// Feeds a backend's bytes to the HTTP/1.x client codec in random pieces, with requests of several kinds, and checks
// what must always hold.
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

http::StreamId send(http::ClientCodec& codec, test::RecordingClientSink& sink, base::ChunkPool& pool,
                    std::uint32_t choice) {
  http::RequestHead head;
  head.authority = "a";
  head.target = "/";
  auto& stream = sink.open();
  base::Arena arena(pool);
  switch (choice % 5) {
    case 0:
      break;
    case 1:
      head.method = http::Method::kHead;
      head.methodText = "HEAD";
      break;
    case 2:
      head.method = http::Method::kPost;
      head.methodText = "POST";
      head.body = http::Body::kUntilEnd;
      stream.request.bytes.append("hello");
      break;
    case 3:
      head.body = http::Body::kTunnel;
      head.tunnel = http::Tunnel::kWebSocket;
      head.headers.add(arena, "sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
      head.tunnelProof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
      stream.request.bytes.append("hello");
      break;
    default:
      head.method = http::Method::kPut;
      head.methodText = "PUT";
      head.body = http::Body::kLength;
      head.contentLength = 5;
      stream.request.bytes.append("hello");
      stream.request.finish();
      break;
  }
  return codec.sendRequest(stream.token, head, http::Scheme::kHttps);
}

void checkAnswer(const test::RecordingClientSink::RecordedResponse& stream) {
  require(!(stream.ended && stream.reset), "one end");
  if (!stream.answered) return;
  const http::ResponseHead& head = stream.message.head;
  const bool tunnel = head.body == http::Body::kTunnel;
  require(tunnel == (head.status == http::kSwitchingProtocols),
          "a tunnel is a 101's, and nothing else is final with it");
  require(tunnel || (head.status >= 200 && head.status <= 999), "the final status is final");
  require(tunnel || !http::statusForbidsBody(head.status) || stream.body.empty(), "no body where none may be");
  if (head.body == http::Body::kLength) {
    require(stream.body.size() <= *head.contentLength, "never more than the length");
    require(!stream.ended || stream.body.size() == *head.contentLength, "never less than the length");
  }
  for (const http::Field& field : head.headers) {
    require(http::isFieldName(field.name) && http::isFieldValue(field.value), "fields follow the grammar");
    require(field.id != http::FieldId::kContentLength && field.id != http::FieldId::kTransferEncoding &&
                field.id != http::FieldId::kConnection,
            "control data is not repeated");
  }
}

void runClientCodec(const std::uint8_t* data, std::size_t size) {
  test::FuzzInput input(data, size);
  base::ChunkPool pool;
  {
    http::Limits limits;
    limits.streamWindow = 64;
    limits.responseFields = 12;
    limits.headerBytes = 2048;
    limits.informationalResponses = 3;
    for (const auto kind : {http::H1Section::kResponse, http::H1Section::kTrailers}) {
      const auto read = [&](test::SectionReading reading) {
        return test::readSection(kind, input.rest(), limits, reading, http::H1Messages::kResponses);
      };
      require(read(test::SectionReading::kAtOnce) == read(test::SectionReading::kByLines),
              "a section is read the same at once and line by line");
    }
    test::RecordingClientSink sink(pool);
    auto codec = http::makeH1ClientCodec(sink, pool, limits);
    http::StreamId id = 0;
    for (int idle = 0; !input.empty() && idle < 64;) {
      if (codec->availableStreams() > 0) id = send(*codec, sink, pool, input.next());
      if (input.next() % 2 == 0) test::produced(*codec, pool, 1 + input.next() % 1000);
      if (input.next() % 8 == 0) {
        sink.last().request.finish();
        codec->wake(id);
      }
      if (input.next() % 256 == 0) codec->reset(id, http::ResetReason::kCancelled);
      const std::size_t budget = codec->readBudget();
      const std::string_view piece =
          budget > 0 || input.next() % 16 == 0 ? input.piece(std::max<std::size_t>(budget, 16)) : "";
      idle = piece.empty() ? idle + 1 : 0;
      codec->feed(piece);
      codec->grant(id, input.next() % 64);
      for (std::size_t i = 0; i < sink.count(); ++i) checkAnswer(sink.stream(i));
      if (codec->state() == http::CodecState::kClosed) break;
    }
    codec->feedEnd(input.next() % 2 == 0);
    if (sink.count() > 0) sink.last().request.finish();  // ends both directions of a tunnel
    codec->wake(id);
    codec->grant(id, 1 << 20);
    test::produced(*codec, pool);
    for (std::size_t i = 0; i < sink.count(); ++i) checkAnswer(sink.stream(i));
    test::require(codec->state() == http::CodecState::kClosed, "the end is the end");
    test::require(codec->activeStreams() == 0, "every request has come to an end");
  }
  test::require(pool.inUse() == 0, "all memory came back");
}

}  // namespace
}  // namespace sluice

int sluice::test::fuzzH1Client(const std::uint8_t* data, std::size_t size) {
  sluice::runClientCodec(data, size);
  return 0;
}
