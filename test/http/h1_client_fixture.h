// A client codec whose backend is the test, for HTTP/1.1.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/codec.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {

struct H1Client {
  explicit H1Client(http::Limits limits = {}) : codec(http::makeH1ClientCodec(sink, pool, limits)) {}

  http::RequestHead request(http::Method method = http::Method::kGet, std::string_view text = "GET") {
    http::RequestHead head;
    head.method = method;
    head.methodText = text;
    head.authority = "a.example";
    head.target = "/x?y";
    return head;
  }
  http::StreamId send(const http::RequestHead& head) {
    return id = codec->sendRequest(sink.open().token, head, http::Scheme::kHttps);
  }
  http::StreamId get() {
    send(request());
    produced(*codec, pool);
    return id;
  }
  RecordingClientSink::RecordedResponse& last() { return sink.last(); }
  std::string out(std::size_t limit = std::size_t{1} << 30) { return produced(*codec, pool, limit); }
  void feed(std::string_view bytes) { codec->feed(bytes); }

  base::ChunkPool pool;
  RecordingClientSink sink{pool};
  std::unique_ptr<http::ClientCodec> codec;
  http::StreamId id = 0;
};

inline constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

}  // namespace sluice::test
