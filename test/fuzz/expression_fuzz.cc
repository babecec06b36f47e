// Writes expressions by the tables of the vocabulary: each compiles, and its evaluation on any body stays within the
// bounds. A changed copy of it, and the input itself, compile or are refused with a position, and are evaluated too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "filters/expression/expression.h"
#include "filters/expression/parser.h"
#include "filters/expression/vocabulary.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::filters::Datum;
using sluice::filters::DatumType;
using sluice::filters::Expression;
using sluice::filters::MessageSide;
using sluice::test::require;

constexpr std::string_view kBodies[] = {
    R"({"a": "text", "b": [1, 2.5, {"c": null}], "n": -7, "big": 1e300, "t": true})",
    R"([[[]], {"a": {"a": {"a": "\u00e9"}}}])",
    R"("a")",
};
constexpr std::string_view kLeaves[] = {"1",
                                        "'a'",
                                        "null",
                                        "true",
                                        "2.5",
                                        "''",
                                        "-9223372036854775808",
                                        "request.headers.a",
                                        "json(request.body)",
                                        "[]",
                                        "json(request.body).a",
                                        "json(request.body).b[2].c",
                                        "has(json(request.body).a.a)"};

/// Writes an expression that the vocabulary permits.
std::string written(sluice::test::FuzzInput& input, std::size_t depth) {
  const auto pick = [&](auto rows) { return rows[input.next() % rows.size()]; };
  const std::uint32_t kind = depth == 0 ? 0 : input.next() % 4;
  if (kind == 0) {
    const auto attributes = sluice::filters::expressionAttributes();
    const std::string_view name = pick(attributes).name;
    return std::string(!name.starts_with("response.") && input.next() % 2 == 0 ? name : pick(std::span(kLeaves)));
  }
  const std::string_view form =
      kind == 1 ? pick(sluice::filters::expressionForms()).form : pick(sluice::filters::expressionFunctions()).form;
  std::string text;
  for (const char c : form) {
    if (c != '$') {
      text += c;
    } else {
      text += "(" + written(input, depth - 1) + ")";
    }
  }
  return text;
}

void evaluate(const Expression& expression, const sluice::filters::BodyReads& reads, std::string_view body) {
  sluice::base::ChunkPool pool;
  sluice::http::RequestMessage request(pool);
  request.head.target = "/a?b";
  request.head.authority = "a";
  request.head.headers.add(request.arena, "a", "value");
  request.head.headers.add(request.arena, "a", "value");
  sluice::base::Arena arena(pool);
  sluice::filters::BodyDocument document(body, reads, arena);
  sluice::filters::ExpressionWork work;
  sluice::filters::Meter meter(arena, work, sluice::processing::WorkBounds().steps);
  const Datum result = expression.evaluate({request.head, {}, nullptr, &document}, meter);
  require(!result.isError() || !result.text().empty(), "an error has a reason");
  require(result.isError() || !meter.isExhausted(), "a bound that is hit is an error");
  require(result.text().size() <= Expression::kMostResultBytes, "the result is bounded");
  require(arena.held() <= 2 * sluice::filters::Meter::kMostMadeBytes, "the memory is bounded");
}

/// Returns true if the source compiles.
bool compileAndRun(std::string_view source, std::string_view body) {
  sluice::filters::BodyReads reads;
  sluice::filters::ExpressionPatterns patterns({});
  const auto expression = Expression::compile(source, MessageSide::kRequest, reads, patterns);
  if (!expression) {
    require(expression.error().detail.starts_with("at character "), "a refusal has a position");
    return false;
  }
  require(source.size() <= sluice::filters::kMostExpressionBytes, "the source is bounded");
  evaluate(*expression, reads, body);
  for (const std::string_view each : kBodies) evaluate(*expression, reads, each);
  return true;
}

}  // namespace

int sluice::test::fuzzExpression(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  compileAndRun(text, text);
  FuzzInput input(data, size);
  std::string source = written(input, 4);
  if (source.size() > filters::kMostExpressionBytes) return 0;
  const bool isLarge = source.size() > filters::kMostExpressionNodes;
  require(compileAndRun(source, text) || isLarge, "what the tables permit compiles");
  for (int change = 0; change < 4; ++change) {
    const std::size_t at = input.next() % source.size();
    if (input.next() % 3 == 0) source.erase(at, 1 + input.next() % 3);
    if (input.next() % 3 == 0) source.insert(at, 1, static_cast<char>(input.byte()));
    if (input.next() % 3 == 0) source.insert(at, input.piece(8));
    if (source.empty()) break;
    compileAndRun(source, text);
  }
  return 0;
}
