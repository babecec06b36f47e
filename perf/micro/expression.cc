// expression SOURCE FILE: evaluates an expression of InProcess a thousand times, each time on the JSON body in FILE as
// on that of a new request, and prints that number, for perf/processors.py, which counts the instructions.
#include "filters/expression/expression.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/chunk_pool.h"

namespace {

namespace base = sluice::base;
namespace filters = sluice::filters;
namespace http = sluice::http;

constexpr int kTimes = 1000;

struct Evaluation {
  const filters::Expression& expression;
  const filters::BodyReads& reads;
  std::string_view text;
};

[[gnu::noinline]] void evaluateAll(const Evaluation& evaluation, base::ChunkPool& pool) {
  const http::RequestHead request;
  for (int i = 0; i < kTimes; ++i) {
    base::Arena arena(pool);
    filters::ExpressionWork work;
    filters::Meter meter(arena, work, sluice::processing::WorkBounds().steps);
    filters::BodyDocument body(evaluation.text, evaluation.reads, arena);
    const filters::Datum value = evaluation.expression.evaluate({request, {}, nullptr, &body}, meter);
    if (value.isError()) std::exit(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  filters::BodyReads reads;
  filters::ExpressionPatterns patterns({});
  const auto expression = filters::Expression::compile(arguments[1], filters::MessageSide::kRequest, reads, patterns);
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!expression || text.empty()) return 2;
  base::ChunkPool pool;
  evaluateAll({*expression, reads, text}, pool);
  std::printf("%d\n", kTimes);
  return 0;
}
