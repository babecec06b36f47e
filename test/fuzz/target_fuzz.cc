// Takes any target of a request, and two more lines: the name and the value of a rule's query match. The normal form of
// the path is the one that a plain reading of RFC 3986 gives, and is a fixed point; a route matches it exactly if the
// route matches the segments that the client meant. All code that decodes percent-encodings agrees with a plain
// decoder.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/schema/uri_reference.h"
#include "proxy/http/grpc.h"
#include "proxy/http/target.h"
#include "proxy/processing/query_edit.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/predicates.h"
#include "proxy/routing/table/route_table_builder.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace {

using sluice::http::EncodedSlash;
using sluice::http::SlashRules;
using sluice::routing::Predicates;
using sluice::routing::Regex;
using sluice::routing::test::RequestMaker;
using sluice::test::require;
using Segments = std::vector<std::string>;

constexpr std::string_view kUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

bool mayStandInTargets(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F' && c != '#'; });
}

std::optional<unsigned> hexOf(std::string_view digits) {
  constexpr std::string_view kUpper = "0123456789ABCDEF";
  constexpr std::string_view kLower = "0123456789abcdef";
  unsigned value = 0;
  for (const char c : digits) {
    const std::size_t digit = std::min(kUpper.find(c), kLower.find(c));
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return digits.size() == 2 ? std::optional(value) : std::nullopt;
}

/// Returns the one spelling of each character of the path; nullopt if a character is not allowed there.
std::optional<std::string> spelled(std::string_view path, EncodedSlash slash) {
  if (!mayStandInTargets(path) || path.find('\\') != std::string_view::npos) return std::nullopt;
  std::string text;
  while (!path.empty()) {
    if (path.front() != '%') {
      text += path.front();
      path.remove_prefix(1);
      continue;
    }
    const auto code = hexOf(path.substr(1, 2));
    if (!code || *code < 0x20 || *code == 0x7F || *code == '\\') return std::nullopt;
    if (*code == '/' && slash == EncodedSlash::kReject) return std::nullopt;
    const char character = static_cast<char>(*code);
    const bool literal = (*code == '/' && slash == EncodedSlash::kDecode) ||
                         (*code < 0x80 && kUnreserved.find(character) != std::string_view::npos);
    if (literal) {
      text += character;
    } else {
      for (const char c : path.substr(0, 3)) text += c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    path.remove_prefix(3);
  }
  return text;
}

Segments split(std::string_view text, std::string_view separator) {
  Segments parts;
  std::size_t at = text.find(separator);
  for (; at != std::string_view::npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

bool isDots(std::string_view segment) { return segment == "." || segment == ".."; }

bool mayBeTakenForDots(const std::string& segment) {
  const Segments parts = split(segment, "%2F");
  return std::any_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return isDots(part.substr(0, part.find(';'))); });
}

/// Returns the segments behind the first "/" in normal form, the last of which is empty if the path ends in "/";
/// nullopt if the path is to be refused.
std::optional<Segments> plainSegments(std::string_view path, SlashRules rules) {
  const auto text = spelled(path, rules.encoded);
  if (!text || !path.starts_with('/')) return std::nullopt;
  Segments parts = split(std::string_view(*text).substr(1), "/");
  Segments kept;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string& part = parts[i];
    const bool last = i + 1 == parts.size();
    if (part == "..") {
      if (kept.empty()) return std::nullopt;
      kept.pop_back();
    }
    if (isDots(part)) {
      if (last) kept.emplace_back();
    } else if (mayBeTakenForDots(part)) {
      return std::nullopt;
    } else if (last || !part.empty() || !rules.merge) {
      kept.push_back(std::move(part));
    }
  }
  return kept;
}

std::string joinedPath(const Segments& segments) {
  std::string path;
  for (const std::string& each : segments) path += "/" + each;
  return path;
}

/// Returns the normal form, or "" if the target is refused, and compares it with the plain reading.
std::string checkedForm(std::string_view target, SlashRules rules) {
  sluice::base::ChunkPool pool;
  sluice::base::Arena arena(pool);
  const std::string copy(target);  // so that a sanitizer sees reads beyond it
  const auto normal = sluice::http::normalizeTarget(arena, copy, rules);
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(mark);
  const auto segments = plainSegments(target.substr(0, mark), rules);
  require(normal.ok() == (segments && mayStandInTargets(query)), "a target is refused alone");
  if (!normal) return "";
  const std::string path = joinedPath(*segments);
  require(normal->text == path + std::string(query), "the normal form is another one");
  const bool unusual = path.find("//") != std::string::npos || path.find("%2F") != std::string::npos;
  require(normal->unusualSlashes == unusual, "the unusual slashes are not noticed");
  const Segments sent = split(*spelled(target.substr(1, mark - 1), rules.encoded), "/");
  require(normal->hadDotSegments == std::any_of(sent.begin(), sent.end(), isDots), "a dot segment is not noticed");
  const auto again = sluice::http::normalizeTarget(arena, normal->text, rules);
  require(again.ok() && again->text == normal->text, "the normal form is not final");
  require(std::none_of(segments->begin(), segments->end(), isDots), "there are dot segments left");
  return std::string(normal->text);
}

constexpr std::string_view kPrefixes[] = {"/", "/a", "/a/b", "/a/b/c.d", "/%20", "/a%2Fb"};
constexpr std::string_view kExactPath = "/a/b/e";

sluice::routing::RouteTable tableOfPaths() {
  sluice::routing::RouteTableBuilder builder;
  const auto add = [&](std::string_view path, sluice::routing::PathKind kind) {
    auto rule = std::make_shared<sluice::routing::Rule>();
    rule->route = path;
    sluice::routing::test::TableEntry entry;
    entry.pathKind = kind;
    entry.path = path;
    entry.rule = std::move(rule);
    require(sluice::routing::test::addTo(builder, std::move(entry)).ok(), "a path is refused");
  };
  for (const std::string_view path : kPrefixes) add(path, sluice::routing::PathKind::kPrefix);
  add(kExactPath, sluice::routing::PathKind::kExact);
  return builder.build();
}

bool covers(std::string_view prefix, const Segments& path) {
  const Segments wanted = prefix == "/" ? Segments() : split(prefix.substr(1), "/");
  return wanted.size() <= path.size() && std::equal(wanted.begin(), wanted.end(), path.begin());
}

/// Matches a target in normal form, and decides the same by the segments of what the client wrote.
void matchPath(const std::string& target, const Segments& segments) {
  static const sluice::routing::RouteTable kTable = tableOfPaths();
  std::string_view expected;
  for (const std::string_view prefix : kPrefixes) {
    if (covers(prefix, segments) && prefix.size() > expected.size()) expected = prefix;
  }
  if (joinedPath(segments) == kExactPath) expected = kExactPath;
  const RequestMaker request("GET", "a.test", target);
  const sluice::routing::RouteMatch match = kTable.match(request.head());
  require(match.rule != nullptr && match.rule->route == expected, "another route takes it");
}

void checkPath(std::string_view target) {
  const std::string any = checkedForm(target, sluice::http::kAnySlashes);
  for (const EncodedSlash encoded : {EncodedSlash::kKeep, EncodedSlash::kReject, EncodedSlash::kDecode}) {
    for (const bool merge : {false, true}) {
      const SlashRules rules{encoded, merge};
      checkedForm(target, rules);
      // A request is normalised once before its listener's rules are known, and once more by them.
      const std::string normal = any.empty() ? any : checkedForm(any, rules);
      if (normal.empty()) continue;
      require(checkedForm(normal, sluice::http::kAnySlashes) == normal, "a second reader changes it");
      const std::string_view path = target.substr(0, target.find('?'));
      const std::string once = joinedPath(*plainSegments(path, sluice::http::kAnySlashes));
      matchPath(normal, *plainSegments(once, rules));
    }
  }
}

struct PlainlyDecoded {
  std::string text;
  bool hasBroken = false;  // a "%" without two hex digits, which stays as it is
};

PlainlyDecoded plainlyDecoded(std::string_view encoded) {
  PlainlyDecoded decoded;
  while (!encoded.empty()) {
    const auto code = encoded.front() == '%' ? hexOf(encoded.substr(1, 2)) : std::nullopt;
    decoded.hasBroken = decoded.hasBroken || (encoded.front() == '%' && !code);
    decoded.text += code ? static_cast<char>(*code) : encoded.front();
    encoded.remove_prefix(code ? 3 : 1);
  }
  return decoded;
}

/// A parameter of the query, as it was sent and as it is meant.
struct PlainParameter {
  std::string sent;
  std::string value;
};

/// Returns the first parameter of that name, which is not empty.
std::optional<PlainParameter> plainParameter(std::string_view query, std::string_view name) {
  for (const std::string& pair : split(query, "&")) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (plainlyDecoded(pair.substr(0, equals)).text != name) continue;
    const std::string sent = pair.substr(std::min(equals + 1, pair.size()));
    return PlainParameter{sent, plainlyDecoded(sent).text};
  }
  return std::nullopt;
}

bool queryEquals(const RequestMaker& request, std::string_view name, std::string_view value) {
  Predicates predicates;
  predicates.query.push_back({std::string(name), std::string(value)});
  return predicates.hold(request.head());
}

bool queryIsWord(const RequestMaker& request, std::string_view name) {
  static Predicates word = [] {
    Predicates made;
    made.query.push_back({"", sluice::routing::test::regexOf("[a-z]*")});
    return made;
  }();
  word.query.front().name = name;
  return word.hold(request.head());
}

void checkQuery(std::string_view query, std::string_view name, std::string_view value) {
  const RequestMaker request("GET", "a.test", "/?" + std::string(query));
  const auto expected = plainParameter(query, name);
  require(queryEquals(request, name, value) == (expected && expected->value == value), "the value is another one");
  require(!expected || queryEquals(request, name, expected->value), "a value is not its own");
  const bool isWord = expected && std::all_of(expected->value.begin(), expected->value.end(),
                                              [](char c) { return c >= 'a' && c <= 'z'; });
  require(queryIsWord(request, name) == isWord, "an expression sees another value");
  sluice::routing::ValueBuffer buffer;
  const auto found = valueOf(request.head(), sluice::routing::PredicateKind::kQuery, name, buffer);
  const bool fits =
      expected && (expected->value.size() <= buffer.size() || expected->sent.find('%') == std::string::npos);
  require(found.has_value() == fits, "a value is found alone");
  require(!found || *found == expected->value, "another value is found");
}

void checkEncoding(std::string_view name, std::string_view value) {
  const std::string parameter = sluice::processing::encodeQuery(name) + "=" + sluice::processing::encodeQuery(value);
  require(mayStandInTargets(parameter), "an encoded text cannot stand in a target");
  const RequestMaker request("GET", "a.test", "/?" + parameter + "&x=1");
  require(queryEquals(request, name, value), "an encoded text does not come back");
}

void checkOtherDecoders(std::string_view text) {
  const PlainlyDecoded expected = plainlyDecoded(text);
  sluice::base::ChunkPool pool;
  sluice::http::ResponseMessage response(pool);
  response.head.headers.add(response.arena, "grpc-status", "3");
  response.head.headers.add(response.arena, "grpc-message", text);
  const sluice::http::GrpcStatus status = sluice::http::grpcStatusOf(response.head, nullptr);
  require(status.code == 3 && status.message == expected.text, "a message of gRPC is another one");
  const auto reference = sluice::content::percentDecoded(text);
  require(reference.has_value() == !expected.hasBroken, "a broken reference is taken, or a good one refused");
  require(!reference || *reference == expected.text, "a reference is another one");
}

}  // namespace

int sluice::test::fuzzTarget(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 20'000;
  std::string_view target(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  checkOtherDecoders(target);
  const auto takeLine = [&] {
    const std::size_t end = std::min(target.rfind('\n'), target.size());
    const std::string_view line = target.substr(std::min(end + 1, target.size()));
    target = target.substr(0, end);
    return line;
  };
  const std::string_view value = takeLine();
  const std::string_view name = takeLine();
  checkPath(target);
  if (name.empty()) return 0;
  const std::size_t mark = target.find('?');
  checkQuery(mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1), name, value);
  checkEncoding(name, value);
  return 0;
}
