// The cases of h2spec's section 8, of HPACK (with an H before the section of RFC 7541) and of its generic part (with a
// G) for servers: messages, and frames that every server must accept.
#pragma once

#include <string>

#include "test/http/conformance/conformance_row.h"
#include "test/support/h2_frames.h"

namespace sluice::test::h2case {

inline H2Lines with(H2Lines lines, std::string name, std::string value) {
  lines.emplace_back(std::move(name), std::move(value));
  return lines;
}
inline H2Lines without(std::string_view name) {
  H2Lines lines = h2::get();
  std::erase_if(lines, [name](const auto& line) { return line.first == name; });
  return lines;
}
inline H2Lines replaced(std::string_view name, const std::string& value) {
  H2Lines lines = h2::get();
  for (auto& line : lines) {
    if (line.first == name) line.second = value;
  }
  return lines;
}

inline ConformanceRows serverMessageCases() {
  const auto refused = [](std::string_view section, std::string_view name, const H2Lines& lines) {
    return ConformanceRow{section, name, {h2::headers(1, lines, true)}, endsStream(kProtocolError)};
  };
  const auto added = [&](std::string_view section, std::string_view name, const char* field, const char* value) {
    return refused(section, name, with(h2::get(), field, value));
  };
  const std::string begun = h2::headers(1, h2::post(), false) + h2::data(1, "test", false);
  const std::string sized = h2::headers(1, with(h2::post(), "content-length", "1"), false);
  H2Lines late = h2::get();
  late.insert(late.begin(), {"x-test", "ok"});
  return {
      {"8.1",
       "second HEADERS without END_STREAM",
       {begun + h2::headers(1, {{"x-test", "ok"}}, false)},
       endsStream(kProtocolError)},
      added("8.1.2", "a field name in upper case", "X-TEST", "ok"),
      added("8.1.2.1", "a pseudo-header field that is not known", ":test", "ok"),
      added("8.1.2.1", "a pseudo-header field of responses", ":status", "200"),
      {"8.1.2.1",
       "a pseudo-header field in trailers",
       {begun + h2::headers(1, {{":method", "POST"}}, true)},
       endsStream(kProtocolError)},
      refused("8.1.2.1", "a pseudo-header field behind a field", late),
      added("8.1.2.2", "a field of the connection", "connection", "keep-alive"),
      added("8.1.2.2", "TE with something else than trailers", "te", "trailers, deflate"),
      refused("8.1.2.3", "an empty :path", replaced(":path", "")),
      refused("8.1.2.3", "no :method", without(":method")),
      refused("8.1.2.3", "no :scheme", without(":scheme")),
      refused("8.1.2.3", "no :path", without(":path")),
      added("8.1.2.3", "two :method", ":method", "GET"),
      added("8.1.2.3", "two :scheme", ":scheme", "http"),
      added("8.1.2.3", "two :path", ":path", "/"),
      {"8.1.2.6",
       "content-length that one DATA does not have",
       {sized + h2::data(1, "test", true)},
       endsStream(kProtocolError)},
      {"8.1.2.6",
       "content-length that several DATA do not have",
       {sized + h2::data(1, "test", false) + h2::data(1, "test", true)},
       endsStream(kProtocolError)},
      {"8.2",
       "PUSH_PROMISE",
       {h2::frame(H2Type::kPushPromise, h2flag::kEndHeaders, 1, std::string("\0\0\0\3", 4) + h2::block(h2::get()))},
       endsConnection(kProtocolError)},
  };
}

inline ConformanceRows serverHpackCases() {
  const auto refused = [](std::string_view section, std::string_view name, const std::string& block) {
    return ConformanceRow{section, name, {h2::headers(1, block, true)}, endsConnection(kCompressionError)};
  };
  const auto taken = [](std::string_view section, std::string_view name, const std::string& block) {
    return ConformanceRow{section, name, {h2::headers(1, block, true)}, succeeds()};
  };
  const std::string get = h2::block(h2::get());
  const std::string name("\0\6x-test", 8);  // a literal name, as far as its value
  const std::string plain = "\x06x-test\x06h2spec";
  const std::string huffman = "\x85\xf2\xb2\x4a\x84\xff\x84\x9c\x48\xac\xa4";
  const std::string value = "\x06h2spec";
  const std::string huffmanValue = "\x84\x9c\x48\xac\xa4";
  const std::string none(1, '\0');
  return {
      refused("H2.3.3", "a reference beyond the tables", get + h2::reference(70)),
      refused("H2.3.3", "a literal whose name refers beyond the tables",
              get + "\x7f\x07\x01"
                    "a"),
      refused("H4.2", "a table size update at the end of a block", get + "\x20\x3f\xe1\x1f"),
      refused("H5.2", "Huffman padding of more than 7 bits", get + name + "\x82\x1f\xff"),
      refused("H5.2", "Huffman padding of zeros", get + name + "\x81\x18"),
      refused("H5.2", "Huffman code of the end of a string", get + name + "\x84\xff\xff\xff\xff"),
      refused("H6.1", "a reference to entry 0", get + "\x80"),
      refused("H6.3", "a table size above ours", "\x3f\xe2\x1f" + get),
      taken("G5", "an indexed field", get + "\xba"),
      taken("G5", "a literal with indexing, indexed name", get + "\x7a" + value),
      taken("G5", "a literal with indexing, indexed name, Huffman", get + "\x7a" + huffmanValue),
      taken("G5", "a literal with indexing, new name", get + "\x40" + plain),
      taken("G5", "a literal with indexing, new name, Huffman", get + "\x40" + huffman),
      taken("G5", "a literal without indexing, indexed name", get + "\x0f\x2b" + value),
      taken("G5", "a literal without indexing, indexed name, Huffman", get + "\x0f\x2b" + huffmanValue),
      taken("G5", "a literal without indexing, new name", get + none + plain),
      taken("G5", "a literal without indexing, new name, Huffman", get + none + huffman),
      taken("G5", "a literal that is never indexed, indexed name", get + "\x1f\x2b" + value),
      taken("G5", "a literal that is never indexed, indexed name, Huffman", get + "\x1f\x2b" + huffmanValue),
      taken("G5", "a literal that is never indexed, new name", get + "\x10" + plain),
      taken("G5", "a literal that is never indexed, new name, Huffman", get + "\x10" + huffman),
      taken("G5", "a table size update", "\x20" + get),
      taken("G5", "several table size updates", "\x20\x3f\xe1\x1f" + get),
  };
}

inline ConformanceRows serverGenericStreamCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const std::string still = h2::settings({{0x4, 0}}) + whole;
  return {
      {"G1", "the client's preface", {h2::clientHello()}, {WireReaction::Kind::kSettings}, false},
      {"G2", "PRIORITY of an idle stream", {h2::priority(1, 0) + h2::ping()}, pongs()},
      {"G2", "WINDOW_UPDATE, half-closed (remote)", {still + h2::windowUpdate(1, 1)}, sends(1)},
      {"G2", "PRIORITY, half-closed (remote)", {still + h2::priority(1, 0) + h2::windowUpdate(1, 1)}, sends(1)},
      {"G2", "RST_STREAM, half-closed (remote)", {whole + h2::rstStream(1, h2error::kCancel) + h2::ping()}, pongs()},
      {"G2", "PRIORITY of a closed stream", {whole, h2::priority(1, 0) + h2::ping()}, pongs()},
      {"G2", "WINDOW_UPDATE of a closed stream", {whole, h2::windowUpdate(1, 1) + h2::ping()}, pongs()},
      {"G2", "RST_STREAM of a closed stream", {whole, h2::rstStream(1, h2error::kCancel) + h2::ping()}, pongs()},
  };
}

inline ConformanceRows serverGenericFrameCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const std::string open = h2::headers(1, h2::post(), false);
  const std::string block = h2::block(h2::get());
  const std::string begun = h2::headers(1, block, true, false);
  const std::uint8_t ends = h2flag::kEndHeaders | h2flag::kEndStream;
  const std::string field = h2::line("x-a", "1");
  const std::string exclusive = h2::frame(H2Type::kPriority, 0, 1, std::string("\x80\0\0\0\0", 5));
  return {
      {"G3.1", "DATA", {open + h2::data(1, "test", true)}, succeeds()},
      {"G3.1", "several DATA", {open + h2::data(1, "test", false) + h2::data(1, "test", true)}, succeeds()},
      {"G3.1", "DATA with padding", {open + padded(H2Type::kData, h2flag::kEndStream, 6, "test", 6)}, succeeds()},
      {"G3.2", "HEADERS", {whole}, succeeds()},
      {"G3.2", "HEADERS with padding", {padded(H2Type::kHeaders, ends, 6, block, 6)}, succeeds()},
      {"G3.2", "HEADERS with priority", {dependent(0, block)}, succeeds()},
      {"G3.3",
       "PRIORITY with weight 1",
       {h2::frame(H2Type::kPriority, 0, 1, std::string(5, '\0')) + whole},
       succeeds()},
      {"G3.3",
       "PRIORITY with weight 256",
       {h2::frame(H2Type::kPriority, 0, 1, std::string("\0\0\0\0\xff", 5)) + whole},
       succeeds()},
      {"G3.3", "PRIORITY with a dependency", {h2::priority(3, 1) + whole}, succeeds()},
      {"G3.3", "PRIORITY that is exclusive", {exclusive + whole}, succeeds()},
      {"G3.3", "PRIORITY of an idle stream, then a lower one", {h2::priority(3, 0) + whole}, succeeds()},
      {"G3.4", "RST_STREAM", {open + h2::rstStream(1, h2error::kCancel) + h2::ping()}, pongs()},
      {"G3.5",
       "SETTINGS",
       {h2::settings({{0x1, 4096}, {0x2, 1}, {0x3, 100}, {0x4, 65535}, {0x5, 16384}, {0x6, 100}})},
       {WireReaction::Kind::kAck}},
      {"G3.7", "PING", {h2::ping()}, pongs()},
      {"G3.8", "GOAWAY", {h2::goaway(0, h2error::kNoError) + h2::ping()}, {WireReaction::Kind::kCalm}},
      {"G3.9", "WINDOW_UPDATE of the connection", {h2::windowUpdate(0, 1) + whole}, succeeds()},
      {"G3.9", "WINDOW_UPDATE of a stream", {whole + h2::windowUpdate(1, 1)}, succeeds()},
      {"G3.10", "CONTINUATION", {begun + h2::continuation(1, field, true)}, succeeds()},
      {"G3.10",
       "several CONTINUATIONs",
       {begun + h2::continuation(1, field, false) + h2::continuation(1, field, true)},
       succeeds()},
      {"G4", "a GET request", {whole}, succeeds()},
      {"G4", "a HEAD request", {h2::headers(1, replaced(":method", "HEAD"), true)}, succeeds()},
      {"G4", "a POST request", {open + h2::data(1, "test", true)}, succeeds()},
      {"G4",
       "a POST request with trailers",
       {h2::headers(1, with(h2::post(), "trailer", "x-test"), false) + h2::data(1, "test", false) +
        h2::headers(1, {{"x-test", "ok"}}, true)},
       succeeds()},
      {"G4",
       "a GET request for https on a cleartext listener",
       {h2::headers(1, h2::get("/", "https"), true)},
       succeeds()},
  };
}

}  // namespace sluice::test::h2case
