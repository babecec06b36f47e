// Requests as codecs pass them to hygiene, for its tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/hygiene.h"
#include "test/support/recording_sinks.h"

namespace sluice::http {

using Lines = std::vector<std::pair<std::string, std::string>>;

// A request as a codec passes it in, with the arena of its head.
class Checked {
 public:
  Checked(RawRequest raw, const Lines& lines, ServerTerms terms = Scheme::kHttp) : head_(check(raw, lines, terms)) {}

  int status() const { return head_ ? 200 : head_.error().status; }
  RequestHead& head() { return *head_; }
  std::string fields() { return test::render(test::fieldList(head_->headers)); }

 private:
  base::Result<RequestHead> check(RawRequest raw, const Lines& lines, ServerTerms terms) {
    for (const auto& [name, value] : lines) raw.fields.add(arena_, arena_.copy(name), arena_.copy(value));
    return checkRequest(arena_, raw, terms);
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  base::Result<RequestHead> head_;
};

inline RawRequest h1(std::string_view method = "GET", std::string_view target = "/",
                     Version version = Version::kHttp11) {
  RawRequest raw;
  raw.method = method;
  raw.target = target;
  raw.version = version;
  return raw;
}

inline RawRequest h2(std::string_view method = "GET", bool endOfStream = true) {
  RawRequest raw = h1(method, "/", Version::kHttp2);
  raw.scheme = "http";
  raw.authority = "a";
  raw.endOfStream = endOfStream;
  return raw;
}

}  // namespace sluice::http
