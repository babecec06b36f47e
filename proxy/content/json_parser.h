// Reads one JSON text (RFC 8259) into a Value; json.h explains how strict it is. Internal to proxy/content.
//
// Lives for one reading; the text outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

class JsonParser {
 public:
  /// Values inside more than `mostDepth` lists and maps are refused.
  JsonParser(std::string_view text, std::size_t mostDepth)
      : text_(text), at_(text.data()), end_(text.data() + text.size()), mostDepth_(mostDepth) {}

  /// Call it once.
  base::Result<Value> parse();

 private:
  // Each of these takes one token. Returns false after fail().
  bool takeValue(Value& value);
  bool takeMap(Value& map);
  bool takeMember(Value& map);
  bool takeList(Value& list);
  bool takeString(std::string& string);
  bool takeEscape(std::string& string);
  bool takeNumber(Value& number);
  bool takeDigits();
  bool takeWord(Value& value, Value::Kind kind, std::string_view word);

  /// Returns true and takes the byte if it comes next, behind spaces.
  bool takes(char punctuation);
  bool enter();
  bool isNext(char c) const { return at_ != end_ && *at_ == c; }
  void skipSpaces();
  /// Notes that the text is not JSON from here on; `message` begins with a verb or a noun.
  bool fail(std::string message);
  /// Returns the position of the next byte. Each call must be for a later position than the call before.
  Position here();
  void checkNames(const Value& map);

  const std::string_view text_;
  const char* at_;
  const char* const end_;
  const std::size_t mostDepth_;
  std::size_t depth_ = 0;
  std::string fault_;
  std::string repetition_;              // error of a repeated name; reported only if the text is valid JSON otherwise
  const char* counted_ = text_.data();  // line_ counts the lines before this byte
  const char* lineBegin_ = text_.data();
  std::uint32_t line_ = 1;
};

}  // namespace sluice::content
