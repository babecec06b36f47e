// Raw requests that parsers in the field have disagreed about, and requests at the limits, with the answer that each
// one gets.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proxy/http/codec.h"
#include "test/support/recording_sinks.h"

namespace sluice::http {
namespace {

struct VectorOutcome {
  int status = 0;  // 200: accepted and complete; 0: nothing yet
  std::size_t requests = 0;
  std::vector<Limit> limits;
};

VectorOutcome outcomeOf(const std::string& bytes, const Limits& limits = {}, std::size_t piece = std::string::npos) {
  base::ChunkPool pool;
  test::RecordingServerSink sink(pool);
  auto codec = makeH1ServerCodec(sink, pool, limits, Scheme::kHttp);
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size())) {
    codec->feed(std::string_view(bytes).substr(at, piece));
  }
  VectorOutcome outcome;
  outcome.requests = sink.count();
  outcome.limits = sink.limits;
  if (sink.count() == 0) return outcome;
  const auto& stream = sink.stream(0);
  if (stream.bad || stream.reset) outcome.status = stream.error.status;
  if (stream.ended) outcome.status = 200;
  return outcome;
}

std::string get(std::string_view fields) { return "GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n"; }
std::string chunked(std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body);
}

TEST(H1RequestVectors, RequestLines) {
  const struct {
    std::string_view line;
    int status;
  } kCases[] = {
      {"GET / HTTP/1.1", 200},
      {"get / HTTP/1.1", 200},
      {"M-SEARCH / HTTP/1.1", 200},
      {"GET  / HTTP/1.1", 400},
      {"GET /  HTTP/1.1", 400},
      {"GET\t/\tHTTP/1.1", 400},
      {" GET / HTTP/1.1", 400},
      {"GET / HTTP/1.1 ", 400},
      {"GET / http/1.1", 400},
      {"GET / HTTP/1.2", 200},
      {"GET / HTTP/1.9", 200},
      {"GET / HTTP/1.x", 400},
      {"GET / HTTP/2.0", 505},
      {"GET / HTTP/3.1", 505},
      {"GET / HTTP/0.9", 505},
      {"GET / HTTP/2", 400},
      {"GET / HTTP/01.1", 400},
      {"GET / HTTP/1.10", 400},
      {"GET / HTTP/11", 400},
      {"GET / HTP/1.1", 400},
      {"GET / HTTP/1,1", 400},
      {"GET /", 400},
      {"GET", 400},
      {"/ HTTP/1.1", 400},
      {"GET HTTP/1.1", 400},
      {"G=T / HTTP/1.1", 400},
      {"G\x01T / HTTP/1.1", 400},
      {"GET /a b HTTP/1.1", 400},
      {"GET /a\x01 HTTP/1.1", 400},
      {"GET /\x80 HTTP/1.1", 400},
      {"GET /#f HTTP/1.1", 400},
      {"GET ? HTTP/1.1", 400},
      {"GET * HTTP/1.1", 400},
      {"GET a HTTP/1.1", 400},
      {"GET http://b/ HTTP/1.1", 400},
      {"GET http://a/ HTTP/1.1", 200},
      {"GET http://a:80/ HTTP/1.1", 200},
      {"GET http://a:443/ HTTP/1.1", 400},
      {"GET http://a:8080/ HTTP/1.1", 400},
      {"GET https://a/ HTTP/1.1", 200},
      {"GET https://b/ HTTP/1.1", 400},
      {"GET http://a:/ HTTP/1.1", 200},
      {"GET http://%61/ HTTP/1.1", 200},
      {"CONNECT a:443 HTTP/1.1", 405},
      {"PRI * HTTP/2.0", 505},
      {"GET /\rx HTTP/1.1", 400},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(outcomeOf(std::string(c.line) + "\r\nHost: a\r\n\r\n").status, c.status) << c.line;
  }
}

TEST(H1RequestVectors, BytesThatAreNoRequestLine) {
  EXPECT_EQ(outcomeOf("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200) << "one empty line is forgiven";
  EXPECT_EQ(outcomeOf("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 400);
  EXPECT_EQ(outcomeOf("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 400);
  EXPECT_EQ(outcomeOf("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n").status, 505);
  EXPECT_EQ(outcomeOf("GET /\r\n\r\n").status, 400);
  EXPECT_EQ(outcomeOf("\x16\x03\x01").status, 400) << "TLS on a plaintext port";
}

TEST(H1RequestVectors, LineEndsAreJudgedAtOnce) {
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\n").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\r\nHost: a\n").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\r\nHost: a\r\n\n").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\r\nHost: a\r\rX").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\rHost").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\r\nHost: a\rb\r\n").status, 400);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1\rHost", {}, 1).status, 400);
  EXPECT_EQ(outcomeOf("\r\r").status, 400);
}

// At "CR CR LF" some parsers end the head and others read another line.
TEST(H1RequestVectors, ALoneCrNeverEndsASection) {
  const std::string hidden = "Host: a\r\n\r\r\nTransfer-Encoding: chunked\r\n";
  for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
    EXPECT_EQ(outcomeOf(get(hidden), {}, piece).status, 400);
    EXPECT_EQ(outcomeOf(get("\r\r\nHost: a\r\n"), {}, piece).status, 400);
    EXPECT_EQ(outcomeOf(get("Host: a\r\n\rX: b\r\n"), {}, piece).status, 400);
    EXPECT_EQ(outcomeOf(chunked("0\r\n\r\r\nA: b\r\n\r\n"), {}, piece).status, 400);
    EXPECT_EQ(outcomeOf(chunked("0\r\nA: b\r\n\r\r\n\r\n"), {}, piece).status, 400);
  }
}

TEST(H1RequestVectors, FieldLines) {
  const struct {
    std::string_view fields;
    int status;
  } kCases[] = {
      {"Host: a\r\n", 200},
      {"Host:a\r\n", 200},
      {"Host: \t a \t \r\n", 200},
      {"Host: a\r\nX:\r\n", 200},
      {"Host: a\r\nX: \xff\r\n", 200},
      {"", 400},
      {"Host : a\r\n", 400},
      {"Host\t: a\r\n", 400},
      {" Host: a\r\n", 400},
      {"Host: a\r\n X: b\r\n", 400},
      {"Host: a\r\nX: b\r\n c\r\n", 400},
      {"Host: a\r\nX: b\r\n\tc\r\n", 400},
      {"Host: a\r\n \r\n", 400},
      {"Host: a\r\n: x\r\n", 400},
      {"Host: a\r\n:\r\n", 400},
      {"Host: a\r\nX\r\n", 400},
      {"Host: a\r\nX Y: b\r\n", 400},
      {"Host: a\r\nX(Y): b\r\n", 400},
      {"Host: a\r\nX\x01: b\r\n", 400},
      {"Host: a\r\nX\x80: b\r\n", 400},
      {"Host: a\r\nX: b\x01\r\n", 400},
      {"Host: a\r\nX: b\x7f\r\n", 400},
      {"Host: a\r\nX: b\x0b\r\n", 400},
      {"Host: a\r\nX: b\rc\r\n", 400},
      {"Host: a\r\nHost: a\r\n", 400},
      {"Host: a\r\nhost: b\r\n", 400},
      {"Host: a\r\nContent-Length : 5\r\n", 400},
      {"Host: a\r\nContent_Length: 5\r\n", 200},
      {"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400},
      {"Host: a\r\nTransfer-Encoding: \x0b"
       "chunked\r\n",
       400},
      {"Host: a\r\nTransfer-Encoding:\r\n chunked\r\n", 400},
      {"Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n", 400},
      {"Host: a\r\nTransfer-Encoding: 'chunked'\r\n", 400},
      {"Host: a\r\nTransfer-Encoding : chunked\r\n", 400},
      {"Host: a\r\nX: X\nTransfer-Encoding: chunked\r\n", 400},
      {"Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501},
      {"Host: a\r\nExpect: 200-ok\r\n", 417},
      {"Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", 400},
      {"Host: a\r\nContent-Length: 1,1\r\n", 400},
      {"Host: a\r\nContent-Length: 1 1\r\n", 400},
      {"Host: a\r\nContent-Length: 99999999999999999999\r\n", 400},
  };
  for (const auto& c : kCases) EXPECT_EQ(outcomeOf(get(c.fields)).status, c.status) << c.fields;
  EXPECT_EQ(outcomeOf(get(std::string("Host: a\r\nX: a\0b\r\n", 17))).status, 400);
  EXPECT_EQ(outcomeOf(get(std::string("Host: a\r\nX\0: b\r\n", 16))).status, 400);
}

TEST(H1RequestVectors, ChunkedBodies) {
  EXPECT_EQ(outcomeOf(chunked("0\r\n\r\n")).status, 200);
  EXPECT_EQ(outcomeOf(chunked("5\r\nhello\r\n0\r\nA: b\r\n\r\n")).status, 200);
  EXPECT_EQ(outcomeOf(chunked("5 ;\ta = b\r\nhello\r\n0\r\n\r\n")).status, 200);
  EXPECT_EQ(outcomeOf(chunked("5\r\nhello\r\n0\r\n")).status, 0);
  for (const std::string_view body :
       {"5 a\r\n", "5 ;a \r\n", "5\r\nhello0\r\n\r\n", "0\r\n\n", "0\n\r\n", "0\r\n A: b\r\n\r\n", "0\r\nA : b\r\n\r\n",
        "0\r\nA: b\n\r\n", "0\r\n\rX", "0\r\n: b\r\n\r\n", "0\r\nA: \x01\r\n\r\n", "0\r\nGET / HTTP/1.1\r\n\r\n",
        "5;\n\r\nhello\r\n", "5\r\nhello\r\n\r\n"}) {
    EXPECT_EQ(outcomeOf(chunked(body)).status, 400) << body;
    EXPECT_EQ(outcomeOf(chunked(body), {}, 1).status, 400) << body;
  }
}

TEST(H1RequestVectors, NothingBehindARefusedRequestIsServed) {
  const std::string smuggled = "GET /smug HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const std::string& first :
       {get("Host: a\r\nHost: b\r\n"), get("Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        chunked("5x\r\nhello\r\n0\r\n\r\n"), std::string("GET / HTTP/1.1\n\n")}) {
    EXPECT_EQ(outcomeOf(first + smuggled).requests, 1U) << first;
  }
}

// The bytes are fed whole and one by one, because a limit does not depend on how they arrive.
void expectLimit(const std::string& bytes, const Limits& limits, int status, std::optional<Limit> hit) {
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
    const VectorOutcome outcome = outcomeOf(bytes, limits, piece);
    EXPECT_EQ(outcome.status, status) << bytes.size() << " bytes by " << piece;
    EXPECT_EQ(outcome.limits, hit ? std::vector<Limit>{*hit} : std::vector<Limit>{});
  }
}

TEST(H1RequestLimits, BoundTheRequestLine) {
  Limits limits;
  limits.requestLineBytes = 40;
  const auto request = [](std::size_t lineBytes) {
    return "GET /" + std::string(lineBytes - 14, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  expectLimit(request(40), limits, 200, {});
  expectLimit(request(41), limits, 414, Limit::kRequestLineBytes);
  expectLimit("GET /" + std::string(100, 'a'), limits, 414, Limit::kRequestLineBytes);
}

TEST(H1RequestLimits, BoundTheFieldBytes) {
  Limits limits;
  limits.headerBytes = 200;
  // host: 4 + 1 + 32; x: 1 + n + 32
  const auto request = [](std::size_t value) { return get("Host: a\r\nX: " + std::string(value, 'v') + "\r\n"); };
  expectLimit(request(200 - 37 - 33), limits, 200, {});
  expectLimit(request(200 - 37 - 33 + 1), limits, 431, Limit::kHeaderBytes);
  expectLimit("GET / HTTP/1.1\r\nX: " + std::string(300, 'v'), limits, 431, Limit::kHeaderBytes);
}

TEST(H1RequestLimits, BoundTheFields) {
  Limits limits;
  limits.headerFields = 5;
  const auto request = [](int fields) {
    std::string lines = "Host: a\r\n";
    for (int i = 1; i < fields; ++i) lines += "X: b\r\n";
    return lines;
  };
  expectLimit(get(request(5)), limits, 200, {});
  expectLimit(get(request(6)), limits, 431, Limit::kHeaderFields);
  expectLimit("GET / HTTP/1.1\r\n" + request(5000), limits, 431, Limit::kHeaderFields);
}

TEST(H1RequestLimits, BoundTrailersAndChunkExtensions) {
  Limits limits;
  limits.headerFields = 3;
  limits.chunkExtensionBytes = 10;
  expectLimit(chunked("0\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n"), limits, 200, {});
  expectLimit(chunked("0\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n"), limits, 431, Limit::kHeaderFields);
  expectLimit(chunked("1;abcd\r\nx\r\n0;abcd\r\n\r\n"), limits, 200, {});
  expectLimit(chunked("1;abcd\r\nx\r\n0;abcde\r\n\r\n"), limits, 400, Limit::kChunkExtensionBytes);
}

TEST(H1RequestLimits, AnEndlessHeadCostsConstantMemory) {
  base::ChunkPool pool;
  test::RecordingServerSink sink(pool);
  auto codec = makeH1ServerCodec(sink, pool, {}, Scheme::kHttp);
  codec->feed("GET / HTTP/1.1\r\nX: ");
  std::size_t most = 0;
  for (int i = 0; i < 10000; ++i) {
    codec->feed(std::string(1000, 'v'));
    most = std::max(most, pool.inUse());
  }
  EXPECT_LE(most, 6U);
  EXPECT_EQ(sink.last().error.status, 431);
}

}  // namespace
}  // namespace sluice::http
