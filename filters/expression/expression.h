// An expression of CEL that an InProcess processor sets a header field or a field of a JSON body to.
//
// Immutable and shared by all threads. The language is a part of CEL without loops (vocabulary.h has all of it), so
// that an evaluation is bounded by the expression; Meter bounds it besides. Other parts of CEL are refused when an
// expression is compiled. Types are checked when it runs.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "filters/expression/body_reads.h"
#include "filters/expression/datum.h"
#include "filters/expression/input.h"
#include "filters/expression/meter.h"
#include "filters/expression/pattern.h"
#include "filters/expression/program.h"
#include "filters/expression/vocabulary.h"
#include "proxy/base/result.h"

namespace sluice::filters {

class Expression {
 public:
  /// The longest string or JSON text that an expression may have as its value.
  static constexpr std::size_t kMostResultBytes = 256 * 1024;

  /// Compiles the source, and adds the paths that it reads in the body to `reads`. `reads` and all expressions that
  /// were compiled with it belong together; `patterns` are those of the use. Errors have config's origin and begin with
  /// the position: "at character 5: ...".
  static base::Result<Expression> compile(std::string_view source, MessageSide side, BodyReads& reads,
                                          ExpressionPatterns& patterns);

  /// Returns the value, or an error; both may be views into the expression, the message, the body and the arena of the
  /// meter.
  Datum evaluate(const ExpressionInput& input, Meter& meter) const;
  /// Returns the string if the expression is only a string literal; else nullptr.
  const Datum* literal() const;

 private:
  explicit Expression(Program program) : program_(std::move(program)) {}

  Program program_;
};

}  // namespace sluice::filters
