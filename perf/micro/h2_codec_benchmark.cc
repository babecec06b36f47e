// Measures a request and its response over HTTP/2, from a client's codec to a server's and back: HPACK, frames and
// hygiene.
#include <benchmark/benchmark.h>

#include <optional>
#include <utility>

#include "proxy/http/codec.h"
#include "proxy/http/h2/h2_memory.h"

namespace sluice::http {
namespace {

/// There are no bodies and no errors, so that only heads count.
class BenchmarkServer final : public ServerSink {
 public:
  Token onRequest(StreamId stream, RequestMessage&& message) override {
    request = std::move(message);
    id = stream;
    return stream;
  }
  Token onBadRequest(StreamId, const base::Error&) override { return kNoToken; }
  void onRequestBody(Token, std::string_view) override {}
  void onRequestEnd(Token) override {}
  void onRequestEnd(Token, Trailers&&) override {}
  void onRequestReset(Token, const base::Error&, bool) override {}
  BodyPipe* responseBody(Token) override { return nullptr; }
  void onResponseBodyTaken(Token, std::size_t) override {}
  void onResponseSent(Token) override {}
  void onLimitHit(Limit) override {}

  std::optional<RequestMessage> request;
  StreamId id = 0;
};

class BenchmarkClient final : public ClientSink {
 public:
  void onInterim(Token, ResponseMessage&&) override {}
  void onResponse(Token, ResponseMessage&& message) override { response = std::move(message); }
  void onResponseBody(Token, std::string_view) override {}
  void onResponseEnd(Token) override {}
  void onResponseEnd(Token, Trailers&&) override {}
  void onResponseReset(Token, const base::Error&, bool) override {}
  BodyPipe* requestBody(Token) override { return nullptr; }
  void onRequestBodyTaken(Token, std::size_t) override {}
  void onRequestSent(Token) override {}
  void onLimitHit(Limit) override {}

  std::optional<ResponseMessage> response;
};

class BenchmarkPair {
 public:
  /// Returns false if the response did not arrive.
  bool exchange(const RequestHead& request, const ResponseHead& response) {
    client_->sendRequest(1, request, Scheme::kHttp);
    pass(*client_, *server_);
    if (!atServer_.request) return false;
    server_->sendResponse(atServer_.id, response);
    pass(*server_, *client_);
    atServer_.request.reset();
    return std::exchange(atClient_.response, std::nullopt).has_value();
  }

 private:
  template <typename From, typename To>
  void pass(From& from, To& to) {
    from.produce(wire_, 1 << 20);
    while (!wire_.empty()) {
      const std::string_view run = wire_.front();
      to.feed(run);
      wire_.consume(run.size());
    }
  }

  const Limits limits_;
  const base::SystemClock clock_;
  base::ChunkPool pool_;
  H2Memory memory_;
  base::ByteQueue wire_{pool_};
  BenchmarkServer atServer_;
  BenchmarkClient atClient_;
  std::unique_ptr<ServerCodec> server_ = makeH2ServerCodec(atServer_, pool_, limits_, Scheme::kHttp, clock_, &memory_);
  std::unique_ptr<ClientCodec> client_ = makeH2ClientCodec(atClient_, pool_, limits_, clock_, &memory_);
};

void headsThereAndBack(benchmark::State& state) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  RequestHead request;
  request.version = Version::kHttp2;
  request.authority = "api.example.com";
  request.target = "/path/to/something";
  request.headers.add(arena, FieldId::kUserAgent, "a client");
  request.headers.add(arena, "accept", "*/*");
  ResponseHead response;
  response.status = 200;
  response.headers.add(arena, FieldId::kServer, "an origin");
  response.headers.add(arena, FieldId::kContentType, "application/json");
  BenchmarkPair pair;
  for (auto _ : state) {
    if (!pair.exchange(request, response)) return state.SkipWithError("no response");
  }
}
BENCHMARK(headsThereAndBack);

}  // namespace
}  // namespace sluice::http
