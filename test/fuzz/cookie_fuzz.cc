// Carries sessions in any Cookie lines, one line of the input each; the first two bytes choose how a value is tampered
// with. In the lines "@" is replaced by a value that the gateway has sealed, and "~" by the tampered one. The gateway
// finds the cookies that a plain reader finds, removes its own ones and keeps all others, and opens only values that it
// has sealed.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/exchange/session/session_carrier.h"
#include "proxy/exchange/session/session_value.h"
#include "proxy/http/hygiene.h"
#include "proxy/pki/sealed_value.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::base::Secret;
using sluice::exchange::addSession;
using sluice::exchange::SessionValue;
using sluice::exchange::takeSessions;
using sluice::http::RequestMessage;
using sluice::pki::ValueSealer;
using sluice::routing::SessionPolicy;
using sluice::test::require;
using Lines = std::vector<std::string>;

constexpr std::size_t kCarriedSize = ValueSealer::sealedSize(SessionValue::kSize);
constexpr std::size_t kMostTaken = 4;
constexpr std::string_view kScope = "HTTPRoute demo/api #0 cookie s";

/// A session and its sealed form, and a sealer that knows the key as the previous one.
struct SealedSession {
  SessionValue value{sluice::base::WallTime(std::chrono::seconds(1'700'000'000)), 7,
                     sluice::net::Address::parse("10.0.0.7", 8080)};
  ValueSealer sealer{Secret(std::string(32, 'k'))};
  ValueSealer rotated{Secret(std::string(32, 'n')), Secret(std::string(32, 'k'))};
  ValueSealer stranger{Secret(std::string(32, 'n'))};
  std::string sealed = sealer.seal(value.toBytes(), kScope).value_or("");
};

const SealedSession& session() {
  static const SealedSession kMade{};
  return kMade;
}

SessionPolicy policyOfCookies() {
  SessionPolicy policy;
  policy.name = "s";
  policy.scope = kScope;
  policy.paths = {"/a", "/a/b"};
  return policy;
}

/// Changes one character, or the length.
std::string tamperedWith(std::string sealed, std::uint8_t place, std::uint8_t character) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=\n";
  if (place >= sealed.size()) return sealed.substr(0, character % sealed.size());
  char& at = sealed[place];
  const char other = kAlphabet[character % kAlphabet.size()];
  at = at == other ? '~' : other;
  return sealed;
}

void checkTampered(const std::string& tampered) {
  const SealedSession& ours = session();
  require(!ours.sealer.open(tampered, kScope) && !ours.rotated.open(tampered, kScope), "a tampered value opens");
  require(tampered.empty() || !ours.sealer.open(ours.sealed + tampered, kScope), "a longer value opens");
  require(!ours.sealer.open(ours.sealed, tampered), "it opens for another scope");
  require(!ours.stranger.open(ours.sealed, kScope), "it opens with another key");
  const auto opened = ours.rotated.open(ours.sealed, kScope);
  require(opened && opened->byPrevious && opened->value == ours.value.toBytes(), "a rotated key closes it");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// The cookies of some lines, as a plain reader finds them.
struct PlainCookies {
  Lines values;  // the first few of ours that have the right size
  Lines others;  // as they stand between ";"
  bool anyOurs = false;

  void read(std::string_view line) {
    while (true) {
      const std::size_t end = std::min(line.find(';'), line.size());
      add(trimmed(line.substr(0, end)));
      if (end == line.size()) return;
      line.remove_prefix(end + 1);
    }
  }

 private:
  void add(std::string_view cookie) {
    const std::size_t equals = std::min(cookie.find('='), cookie.size());
    if (equals == cookie.size() || trimmed(cookie.substr(0, equals)) != "s") {
      if (!cookie.empty()) others.emplace_back(cookie);
      return;
    }
    anyOurs = true;
    std::string_view value = trimmed(cookie.substr(equals + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (value.size() == kCarriedSize && values.size() < kMostTaken) values.emplace_back(value);
  }
};

void checkOpened(const std::vector<std::string_view>& values) {
  for (const std::string_view value : values) {
    const auto opened = session().sealer.open(value, kScope);
    require(opened.has_value() == (value == session().sealed), "a value opens that was not sealed, or one does not");
    if (!opened) continue;
    const auto read = SessionValue::parse(opened->value);
    require(read && read->begun == session().value.begun && read->share == session().value.share &&
                read->endpoint == session().value.endpoint,
            "a session comes back as another one");
  }
}

void checkTaken(RequestMessage& request, const PlainCookies& expected) {
  const std::size_t before = request.head.headers.size();
  const auto values = takeSessions(policyOfCookies(), kCarriedSize, request);
  require(std::equal(values.begin(), values.end(), expected.values.begin(), expected.values.end()),
          "other values are taken");
  PlainCookies left;
  for (const auto& field : request.head.headers) {
    if (field.id == sluice::http::FieldId::kCookie) left.read(field.value);
  }
  require(!left.anyOurs, "a cookie of ours is left");
  require(left.others == expected.others, "another cookie is changed");
  require(request.head.headers.size() <= before, "a field is added");
  require(request.head.headers.find("other") != nullptr, "another field is gone");
  checkOpened(values);
}

/// Takes the sessions out of the lines as they stand, and as they are once the head was checked.
void readLines(const Lines& lines) {
  PlainCookies expected;
  sluice::base::ChunkPool pool;
  RequestMessage request(pool);
  sluice::http::RawRequest raw;
  raw.method = "GET";
  raw.target = "/";
  raw.fields.add(request.arena, "host", "a.test");
  for (const std::string& line : lines) {
    expected.read(line);
    raw.fields.add(request.arena, "cookie", line);
  }
  raw.fields.add(request.arena, "other", "stays");
  request.head.headers = raw.fields.copy(request.arena);
  checkTaken(request, expected);
  auto checked = checkRequest(request.arena, raw, sluice::http::Scheme::kHttp);
  if (!checked) return;
  request.head = *std::move(checked);
  const auto& headers = request.head.headers;
  require(std::count_if(headers.begin(), headers.end(), [](const auto& field) { return field.name == "cookie"; }) <= 1,
          "there are several Cookie lines");
  checkTaken(request, expected);
}

/// A line without a cookie of the gateway stays as it is, byte for byte.
void checkUntouched(const Lines& lines) {
  sluice::base::ChunkPool pool;
  for (const std::string& line : lines) {
    PlainCookies cookies;
    cookies.read(line);
    if (cookies.anyOurs) continue;
    RequestMessage request(pool);
    request.head.headers.add(request.arena, "cookie", line);
    takeSessions(policyOfCookies(), kCarriedSize, request);
    const auto* left = request.head.headers.find("cookie");
    require(left != nullptr && left->value == line, "a line without a session is changed");
  }
}

/// A client keeps what the gateway sets, and sends it back behind its other cookies.
void checkRoundTrip(const std::string& path, const std::string& cookies) {
  sluice::base::ChunkPool pool;
  sluice::http::ResponseMessage response(pool);
  const SessionPolicy policy = policyOfCookies();
  addSession(policy, session().sealed, {path, true, {}}, response);
  const auto* set = response.head.headers.find("set-cookie");
  require(set != nullptr && response.head.headers.size() == 1, "there is one cookie");
  const std::string_view pair = set->value.substr(0, set->value.find(';'));
  constexpr std::string_view kPath = "; Path=";
  const std::size_t at = set->value.find(kPath);
  require(at == pair.size(), "the path does not follow");
  const std::string_view scope = set->value.substr(at + kPath.size(), set->value.find(';', at + 1) - at - kPath.size());
  require(scope == "/" || path == scope || path.starts_with(std::string(scope) + "/"), "the request is not below it");
  require(set->value.ends_with("; HttpOnly; SameSite=Strict; Secure"), "scripts or other sites get it");

  RequestMessage request(pool);
  const std::string line = std::string(pair) + "; " + cookies;
  request.head.headers.add(request.arena, "cookie", line);
  const auto values = takeSessions(policy, kCarriedSize, request);
  require(!values.empty() && values.front() == session().sealed, "the client's value is not found");
  checkOpened(values);
}

}  // namespace

int sluice::test::fuzzCookie(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 4096;
  if (size < 2) return 0;
  const std::string tampered = tamperedWith(session().sealed, data[0], data[1]);
  checkTampered(tampered);
  Lines lines(1);
  for (const char c : std::string_view(reinterpret_cast<const char*>(data), std::min(size, kMostBytes)).substr(2)) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (c == '@') {
      lines.back() += session().sealed;
    } else if (c == '~') {
      lines.back() += tampered;
    } else {
      lines.back() += c;
    }
  }
  readLines(lines);
  checkUntouched(lines);
  checkRoundTrip(lines.back(), lines.front());
  return 0;
}
