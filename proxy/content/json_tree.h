// Builds a Value from the events of a reader.
//
// Lives for one reading; the text outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::content {

class JsonTree {
 public:
  explicit JsonTree(std::string_view text) : text_(text) {}

  /// Offsets count bytes of the text, and never go back.
  void key(std::string name, std::size_t offset);
  void begin(Value::Kind kind, std::size_t offset);
  void scalar(Value::Kind kind, std::string text, std::size_t offset);
  void end();

  /// Returns the whole value; fails if a map had a name twice, or nothing was read.
  base::Result<Value> take() &&;

 private:
  struct Open {
    Value value;
    std::string key;  // the key of the next member
    Position keyPosition;
  };

  Position positionOf(std::size_t offset);
  void put(Value value);
  void checkNames(const Value& map);

  const std::string_view text_;
  std::vector<Open> open_;
  Value root_;
  std::string fault_;
  std::size_t counted_ = 0;  // line_ counts the lines before this byte
  std::size_t lineBegin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace sluice::content
