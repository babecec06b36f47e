// Measures a request head of HTTP/1.1 from bytes to a checked head, which is the cost before routing.
#include <benchmark/benchmark.h>

#include <string>

#include "proxy/http/h1/h1_parser.h"

namespace sluice::http {
namespace {

std::string head(std::int64_t fields) {
  std::string text = "GET /path/to/something?with=a&query=string HTTP/1.1\r\nHost: api.example.com\r\n";
  for (std::int64_t i = 0; i < fields; ++i) {
    text += "X-Field-" + std::to_string(i) + ": a value of about forty characters, no less\r\n";
  }
  return text + "\r\n";
}

void parseAndCheck(benchmark::State& state) {
  const std::string text = head(state.range(0));
  const Limits limits;
  base::ChunkPool pool;
  base::Arena arena(pool);
  H1SectionReader reader(pool, limits, H1Messages::kRequests);
  for (auto _ : state) {
    reader.begin(H1Section::kRequest);
    std::size_t used = 0;
    H1LineEnds ends;
    if (reader.scan(text, used, ends) != H1SectionReader::Status::kComplete) return state.SkipWithError("not complete");
    RawRequest raw;
    if (parseRequestHead(reader.collect(arena, text, ends), ends, reader.fieldLines(), arena, raw)) {
      return state.SkipWithError("not a head");
    }
    auto checked = checkRequest(arena, raw, Scheme::kHttp);
    if (!checked.ok()) return state.SkipWithError("refused");
    benchmark::DoNotOptimize(checked->headers.size());
    arena.clear();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parseAndCheck)->Arg(2)->Arg(8)->Arg(32);

}  // namespace
}  // namespace sluice::http
