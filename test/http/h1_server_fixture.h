// An HTTP/1.x server codec with a recording owner, for its tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/codec.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {

struct H1Server {
  explicit H1Server(http::Limits limits = {})
      : codec(http::makeH1ServerCodec(sink, pool, limits, http::Scheme::kHttp)) {}

  http::ResponseHead answer(std::uint16_t status, http::Body body = http::Body::kNone,
                            std::optional<std::uint64_t> length = {}) {
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    if (body == http::Body::kTunnel) head.tunnel = http::Tunnel::kWebSocket;
    head.contentLength = length;
    return head;
  }
  void respond(std::uint16_t status, std::string_view body) {
    auto& stream = sink.last();
    stream.response.bytes.append(body);
    stream.response.finish();
    codec->sendResponse(stream.id, answer(status, body.empty() ? http::Body::kNone : http::Body::kLength, body.size()));
  }
  std::string out(std::size_t limit = std::size_t{1} << 30) { return produced(*codec, pool, limit); }
  void feed(std::string_view bytes) { codec->feed(bytes); }

  base::ChunkPool pool;
  RecordingServerSink sink{pool};
  std::unique_ptr<http::ServerCodec> codec;
};

inline constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace sluice::test
