#include "proxy/content/json.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <jsoncons/json_error.hpp>
#include <jsoncons/json_reader.hpp>
#include <jsoncons/json_visitor.hpp>
#include <optional>
#include <utility>

#include "proxy/base/hex.h"
#include "proxy/content/byte_order_mark.h"
#include "proxy/content/json_tree.h"

namespace sluice::content {
namespace {

/// Builds a tree of jsoncons's events. The events carry byte positions, from which numbers take their text.
class TreeVisitor final : public jsoncons::json_visitor {
 public:
  explicit TreeVisitor(std::string_view text) : text_(text), tree_(text) {}

  JsonTree& tree() { return tree_; }

 private:
  using Context = jsoncons::ser_context;
  using Tag = jsoncons::semantic_tag;

  void visit_flush() override {}
  JSONCONS_VISITOR_RETURN_TYPE visit_begin_object(Tag, const Context& at, std::error_code&) override {
    tree_.begin(Value::Kind::kMap, at.begin_position());
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_end_object(const Context&, std::error_code&) override {
    tree_.end();
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_begin_array(Tag, const Context& at, std::error_code&) override {
    tree_.begin(Value::Kind::kList, at.begin_position());
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_end_array(const Context&, std::error_code&) override {
    tree_.end();
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_key(const string_view_type& name, const Context& at, std::error_code&) override {
    tree_.key(std::string(name), at.begin_position());
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_null(Tag, const Context& at, std::error_code&) override {
    tree_.scalar(Value::Kind::kNull, {}, at.begin_position());
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_bool(bool value, Tag, const Context& at, std::error_code&) override {
    tree_.scalar(Value::Kind::kBool, value ? "true" : "false", at.begin_position());
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_string(const string_view_type& value, Tag tag, const Context& at,
                                            std::error_code&) override {
    // A number that no machine type holds exactly arrives as its text.
    if (tag == Tag::none) {
      tree_.scalar(Value::Kind::kString, std::string(value), at.begin_position());
    } else {
      number(at);
    }
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_byte_string(const jsoncons::byte_string_view&, Tag, const Context&,
                                                 std::error_code&) override {
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_uint64(std::uint64_t, Tag, const Context& at, std::error_code&) override {
    number(at);
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_int64(std::int64_t, Tag, const Context& at, std::error_code&) override {
    number(at);
    JSONCONS_VISITOR_RETURN;
  }
  JSONCONS_VISITOR_RETURN_TYPE visit_double(double, Tag, const Context& at, std::error_code&) override {
    number(at);
    JSONCONS_VISITOR_RETURN;
  }

  void number(const Context& at) {
    const std::size_t begin = at.begin_position();
    const std::size_t end = text_.find_first_not_of("+-.0123456789eE", begin);
    tree_.scalar(Value::Kind::kNumber, std::string(text_.substr(begin, end - begin)), begin);
  }

  const std::string_view text_;
  JsonTree tree_;
};

base::Error errorAt(std::size_t line, std::size_t column, const std::string& message) {
  return base::Error::config("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message);
}

/// Returns where half of a surrogate pair stands alone in a text that jsoncons has accepted, or npos. jsoncons skips a
/// second half without a first one, and accepts any code behind a first half, where other readers see something else.
std::size_t findHalfOfPair(std::string_view text) {
  const auto codeAt = [text](std::size_t at) {
    std::uint32_t code = 0;
    std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    return code;
  };
  std::size_t at = text.find('\\');
  while (at != std::string_view::npos) {
    const std::size_t begin = at;
    at += 2;
    if (text[begin + 1] == 'u') {
      const std::uint32_t first = codeAt(at);
      at += 4;
      if (first >= 0xDC00 && first < 0xE000) return begin;
      if (first >= 0xD800 && first < 0xDC00) {
        const std::uint32_t second = codeAt(at + 2);
        if (second < 0xDC00 || second >= 0xE000) return begin;
        at += 6;
      }
    }
    at = text.find('\\', at);
  }
  return at;
}

void appendEscape(std::string& out, char c) {
  constexpr std::pair<char, char> kShort[] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                              {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
  for (const auto& [plain, escape] : kShort) {
    if (c != plain) continue;
    out += '\\';
    out += escape;
    return;
  }
  out += "\\u00";
  out += base::hexOf(static_cast<std::uint8_t>(c));
}

void appendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      appendEscape(out, c);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append(std::string& out, const Value& value) {
  const char* separator = "";
  switch (value.kind) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.text;
      return;
    case Value::Kind::kNumber:
      out += jsonNumber(value.text);
      return;
    case Value::Kind::kString:
      appendString(out, value.text);
      return;
    case Value::Kind::kList:
      out += '[';
      for (const Value& item : value.items) {
        out += std::exchange(separator, ",");
        append(out, item);
      }
      out += ']';
      return;
    case Value::Kind::kMap:
      out += '{';
      for (const Member& member : value.members) {
        out += std::exchange(separator, ",");
        appendString(out, member.key);
        out += ':';
        append(out, member.value);
      }
      out += '}';
      return;
  }
}

/// Converts 0x and 0o; a number of more than 64 bits is not supported.
std::string ofBase(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return read.ec == std::errc() ? std::to_string(number) : std::to_string(UINT64_MAX);
}

}  // namespace

base::Result<Value> parseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::Error::config("is longer than " + std::to_string(limits.bytes) + " bytes");
  }
  // jsoncons counts from behind the byte order mark.
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.starts_with(kByteOrderMark)) return errorAt(1, 1, "Unexpected byte order mark");
  try {
    jsoncons::json_options options;
    options.allow_comments(false)
        .allow_trailing_comma(false)
        .lossless_number(true)
        .max_nesting_depth(static_cast<int>(limits.depth))
        .err_handler([](jsoncons::json_errc, const jsoncons::ser_context&) { return false; });
    TreeVisitor visitor(text);
    jsoncons::json_string_reader reader(jsoncons::string_view(text.data(), text.size()), visitor, options);
    std::error_code fault;
    reader.read(fault);
    if (fault) return errorAt(reader.line(), reader.column(), fault.message());
    // jsoncons accepts one comma behind a number that is the whole text.
    if (text.find_last_not_of(" \t\r\n") == text.rfind(',')) {
      return errorAt(reader.line(), reader.column(), "Unexpected comma after JSON text");
    }
    if (const std::size_t half = findHalfOfPair(text); half != std::string_view::npos) {
      const std::string_view before = text.substr(0, half);
      const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
      return errorAt(line, half - before.rfind('\n'), "Half of a surrogate pair");
    }
    return std::move(visitor.tree()).take();
  } catch (const std::exception& error) {
    return base::Error::config(error.what());
  }
}

std::string writeJson(const Value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string jsonString(std::string_view text) {
  std::string out;
  appendString(out, text);
  return out;
}

std::string jsonNumber(std::string_view number) {
  if (number.starts_with("0x")) return ofBase(number.substr(2), 16);
  if (number.starts_with("0o")) return ofBase(number.substr(2), 8);
  std::string out;
  if (number.starts_with('-')) out += '-';
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  while (number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9') number.remove_prefix(1);
  if (number.starts_with('.')) out += '0';
  const std::size_t point = number.find('.');
  out += number;
  const bool digitsFollow = point + 1 < number.size() && number[point + 1] >= '0' && number[point + 1] <= '9';
  if (point != std::string_view::npos && !digitsFollow) out.insert(out.size() - (number.size() - point) + 1, "0");
  return out;
}

}  // namespace sluice::content
