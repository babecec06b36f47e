// Cuts the source of an expression into the tokens of CEL (langdef.md, "Syntax").
//
// Lives for one compilation; the source outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::filters {

struct Lexeme {
  enum class Kind : std::uint8_t { kEnd, kName, kInt, kDouble, kString, kMark };

  Kind kind = Kind::kEnd;
  std::size_t position = 0;     // of its first byte
  std::string_view text;        // as in the source
  std::string string;           // kString, without quotes and escapes
  std::uint64_t magnitude = 0;  // kInt
  double real = 0;              // kDouble
};

/// Returns a config error that names a position of the source: "at character 5: ...".
base::Error expressionError(std::size_t position, std::string_view what);

class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view source) : source_(source) {}

  /// Returns the next token; at the end, each call returns kEnd.
  base::Result<Lexeme> next();

 private:
  void skipSpace();
  base::Result<Lexeme> number();
  base::Result<Lexeme> string(std::size_t prefix);
  /// Appends the meaning of the escape at the current position; returns its fault, or nothing.
  std::string_view escape(std::string& to);
  std::string_view codePoint(std::string& to, std::size_t digits, int base);

  const std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace sluice::filters
