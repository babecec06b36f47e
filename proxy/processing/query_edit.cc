#include "proxy/processing/query_edit.h"

#include <algorithm>

#include "proxy/http/grammar.h"

namespace sluice::processing {
namespace {

/// Removes the first character of `text` and returns it, decoded as in a form. A "%" that encodes nothing is a literal
/// character.
char takeDecoded(std::string_view& text) {
  const char first = text.front();
  const int high = first == '%' && text.size() >= 3 ? http::hexValue(text[1]) : -1;
  const int low = high >= 0 ? http::hexValue(text[2]) : -1;
  text.remove_prefix(low >= 0 ? 3 : 1);
  if (low >= 0) return static_cast<char>(high * 16 + low);
  return first == '+' ? ' ' : first;
}

/// Appends to room that is large enough.
class QueryWriter {
 public:
  explicit QueryWriter(char* room) : begin_(room), end_(room) {}

  void add(char c) { *end_++ = c; }
  void add(std::string_view text) { end_ = std::copy(text.begin(), text.end(), end_); }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }

 private:
  char* const begin_;
  char* end_;
};

}  // namespace

std::string encodeQuery(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size() * 3);  // a credential must not be left behind in memory that was outgrown
  for (const char c : text) {
    if (http::isUnreserved(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

bool namesParameter(std::string_view parameter, std::string_view name) {
  std::string_view own = parameter.substr(0, parameter.find('='));
  for (const char wanted : name) {
    if (own.empty() || http::toLower(takeDecoded(own)) != http::toLower(wanted)) return false;
  }
  if (own.empty()) return true;
  // Some servers take "name[0]" for an element of a list, and some end a name at a NUL byte, as C does.
  const char next = takeDecoded(own);
  return next == '[' || next == '\0';
}

std::string_view replaceParameter(base::Arena& arena, std::string_view target, std::string_view name,
                                  std::string_view parameter) {
  const std::size_t mark = target.find('?');
  std::string_view rest = mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
  QueryWriter writer(arena.bytes(target.size() + parameter.size() + 2));
  writer.add(target.substr(0, mark));
  bool first = true;
  char separator = '&';
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("&;"), rest.size());
    const std::string_view each = rest.substr(0, end);
    if (!namesParameter(each, name)) {
      writer.add(first ? '?' : separator);
      writer.add(each);
      first = false;
    }
    if (end == rest.size()) break;
    separator = rest[end];
    rest.remove_prefix(end + 1);
  }
  if (!parameter.empty()) {
    writer.add(first ? '?' : '&');
    writer.add(parameter);
  }
  return writer.text();
}

}  // namespace sluice::processing
