// Makes texts that are JSON, or nearly, whose members are named as those of scannedPaths().
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "proxy/base/random.h"

namespace sluice::test {

/// Texts that are JSON, or nearly.
class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    std::string text = value(0);
    for (std::size_t i = below(4); i > 0 && !text.empty(); --i) {
      static constexpr std::string_view kBytes =
          "{}[],:\"\\ue0-1.+ \n\t\x01\x7F\x80\xBF\xC3\xED\xA0\xF0\xF4"
          "dD";
      const std::size_t at = below(text.size());
      const char byte = kBytes[below(kBytes.size())];
      if (below(3) == 0) text[at] = byte;
      if (below(3) == 0) text.insert(at, 1, byte);
      if (below(3) == 0) text.erase(at, 1);
    }
    return text;
  }
  std::size_t below(std::size_t bound) { return random_.next() % bound; }

 private:
  std::string pick(std::initializer_list<const char*> of) { return *(of.begin() + below(of.size())); }
  std::string string() {
    return '"' +
           pick({"a", "b", "0", "", "ü", "\\u0061", "\\ud83d\\ude00", "\\n\\\"", "é\\u00e9",
                 "a long one of many bytes"}) +
           pick({"", "", "", "b", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\\udc00", "\\ud800\\u0041"}) + '"';
  }
  std::string value(int depth) {
    const std::string space = pick({"", "", " ", "\r\n\t "});
    const std::size_t kind = below(depth > 5 ? 4 : 7);
    if (kind == 0) return space + string();
    if (kind == 1)
      return space + pick({"0", "-0", "1", "12.50", "-1e5", "1E+10", "01", "1.", "123456789012345678901234567890"});
    if (kind == 2) return space + pick({"true", "false", "null"});
    if (kind == 3) return space + pick({"[]", "{}", "[ ]", "{ }"});
    std::string text = kind == 4 ? "[" : "{";
    for (std::size_t i = below(4); true; --i) {
      text += (kind == 4 ? "" : string() + space + ":") + value(depth + 1) + space;
      if (i == 0) break;
      text += ",";
    }
    return text + (kind == 4 ? "]" : "}");
  }

  base::Random random_;
};

}  // namespace sluice::test
