#include "proxy/routing/table/predicates.h"

#include <algorithm>
#include <array>
#include <string>

namespace sluice::routing {
namespace {

/// A text that is joined from pieces, on the stack as long as it is short.
class Scratch {
 public:
  void append(std::string_view piece) {
    if (overflow_.empty() && size_ + piece.size() <= inline_.size()) {
      std::copy(piece.begin(), piece.end(), inline_.begin() + static_cast<std::ptrdiff_t>(size_));
      size_ += piece.size();
      return;
    }
    if (overflow_.empty()) overflow_.assign(inline_.data(), size_);
    overflow_.append(piece);
  }
  std::string_view view() const { return overflow_.empty() ? std::string_view(inline_.data(), size_) : overflow_; }

 private:
  std::array<char, 1024> inline_;
  std::size_t size_ = 0;
  std::string overflow_;
};

bool isRepeated(const http::Headers& headers, const http::Field* first) {
  return std::any_of(first + 1, headers.end(), [&](const http::Field& field) { return field.name == first->name; });
}

/// Calls piece(text) for the values of all lines of that name and the commas between them, as long as it returns true.
template <typename Piece>
bool forEachPiece(const http::Headers& headers, const http::Field* first, Piece&& piece) {
  for (const http::Field* field = first; field != headers.end(); ++field) {
    if (field->name != first->name) continue;
    if (field != first && !piece(std::string_view(","))) return false;
    if (!piece(field->value)) return false;
  }
  return true;
}

bool joinedEquals(const http::Headers& headers, const http::Field* first, std::string_view expected) {
  return forEachPiece(headers, first,
                      [&](std::string_view piece) {
                        if (!expected.starts_with(piece)) return false;
                        expected.remove_prefix(piece.size());
                        return true;
                      }) &&
         expected.empty();
}

bool joinedMatches(const http::Headers& headers, const http::Field* first, const Regex& expression) {
  Scratch joined;
  forEachPiece(headers, first, [&](std::string_view piece) {
    joined.append(piece);
    return true;
  });
  return expression.matches(joined.view());
}

bool valueHolds(const Predicate& predicate, std::string_view value) {
  if (const auto* text = std::get_if<std::string>(&predicate.expected)) return value == *text;
  return std::get<Regex>(predicate.expected).matches(value);
}

bool headerHolds(const Predicate& predicate, const http::RequestHead& head) {
  if (predicate.name == "host") return !head.authority.empty() && valueHolds(predicate, head.authority);
  const http::Field* first = head.headers.find(predicate.name);
  if (first == nullptr) return false;
  if (!isRepeated(head.headers, first)) return valueHolds(predicate, first->value);
  if (const auto* text = std::get_if<std::string>(&predicate.expected)) return joinedEquals(head.headers, first, *text);
  return joinedMatches(head.headers, first, std::get<Regex>(predicate.expected));
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Takes the next character off `encoded`; a "%" without two hex digits is itself.
char nextDecoded(std::string_view& encoded) {
  char c = encoded.front();
  encoded.remove_prefix(1);
  if (c != '%' || encoded.size() < 2) return c;
  const int high = hexDigit(encoded[0]);
  const int low = hexDigit(encoded[1]);
  if (high < 0 || low < 0) return c;
  encoded.remove_prefix(2);
  return static_cast<char>(high * 16 + low);
}

bool decodedEquals(std::string_view encoded, std::string_view expected) {
  while (!encoded.empty()) {
    if (expected.empty() || nextDecoded(encoded) != expected.front()) return false;
    expected.remove_prefix(1);
  }
  return expected.empty();
}

bool decodedMatches(std::string_view encoded, const Regex& expression) {
  if (encoded.find('%') == std::string_view::npos) return expression.matches(encoded);
  Scratch decoded;
  while (!encoded.empty()) {
    const char c = nextDecoded(encoded);
    decoded.append({&c, 1});
  }
  return expression.matches(decoded.view());
}

/// Returns the value of the first parameter of that name, as it was sent.
std::optional<std::string_view> encodedParameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (!decodedEquals(pair.substr(0, equals), name)) continue;
    return equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1);
  }
  return std::nullopt;
}

bool queryHolds(const Predicate& predicate, std::string_view query) {
  const std::optional<std::string_view> value = encodedParameter(query, predicate.name);
  if (!value) return false;
  if (const auto* text = std::get_if<std::string>(&predicate.expected)) return decodedEquals(*value, *text);
  return decodedMatches(*value, std::get<Regex>(predicate.expected));
}

std::optional<std::string_view> headerValue(const http::RequestHead& head, std::string_view name, ValueBuffer& buffer) {
  if (name == "host") return head.authority.empty() ? std::nullopt : std::optional(head.authority);
  const http::Field* first = head.headers.find(name);
  if (first == nullptr) return std::nullopt;
  if (!isRepeated(head.headers, first)) return first->value;
  std::size_t size = 0;
  const bool fits = forEachPiece(head.headers, first, [&](std::string_view piece) {
    if (piece.size() > buffer.size() - size) return false;
    std::copy(piece.begin(), piece.end(), buffer.data() + size);
    size += piece.size();
    return true;
  });
  return fits ? std::optional(std::string_view(buffer.data(), size)) : std::nullopt;
}

std::optional<std::string_view> queryValue(std::string_view query, std::string_view name, ValueBuffer& buffer) {
  std::optional<std::string_view> encoded = encodedParameter(query, name);
  if (!encoded || encoded->find('%') == std::string_view::npos) return encoded;
  std::size_t size = 0;
  while (!encoded->empty()) {
    if (size == buffer.size()) return std::nullopt;
    buffer[size++] = nextDecoded(*encoded);
  }
  return std::string_view(buffer.data(), size);
}

}  // namespace

std::optional<std::string_view> valueOf(const http::RequestHead& head, PredicateKind kind, std::string_view name,
                                        ValueBuffer& buffer) {
  switch (kind) {
    case PredicateKind::kMethod:
      return head.methodText;
    case PredicateKind::kHeader:
      return headerValue(head, name, buffer);
    case PredicateKind::kQuery:
      return queryValue(head.query(), name, buffer);
  }
  return std::nullopt;
}

Unmet Predicates::unmet(const http::RequestHead& head) const {
  if (!method.empty() && head.methodText != method) return {nullptr, PredicateKind::kMethod, true};
  for (const Predicate& each : headers) {
    if (!headerHolds(each, head)) return {&each, PredicateKind::kHeader, true};
  }
  for (const Predicate& each : query) {
    if (!queryHolds(each, head.query())) return {&each, PredicateKind::kQuery, true};
  }
  return {};
}

}  // namespace sluice::routing
