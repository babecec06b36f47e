// The cases of h2spec's sections 3 to 5 for servers: prefaces, frames, and the states of streams.
#pragma once

#include <string>

#include "test/http/conformance/conformance_row.h"
#include "test/support/h2_frames.h"

namespace sluice::test::h2case {

inline ConformanceRows serverFrameFormatCases() {
  const std::string open = h2::headers(1, h2::post(), false);
  const std::string unfinished = h2::headers(1, h2::block(h2::get()), false, false);
  const std::string rest = h2::continuation(1, h2::line("x-a", "1"), true);
  return {
      {"3.5", "the client's preface", {h2::clientHello()}, {WireReaction::Kind::kSettings}, false},
      {"3.5",
       "something else than the preface",
       {"INVALID CONNECTION PREFACE\r\n\r\n"},
       endsConnection(kProtocolError),
       false},
      {"4.1", "a frame of unknown type", {unknownFrame() + h2::ping()}, pongs()},
      {"4.1", "a flag that is not defined", {h2::frame(H2Type::kPing, 0x16, 0, std::string(8, '\0'))}, pongs()},
      {"4.1", "the reserved bit", {h2::frame(H2Type::kPing, 0, 0x80000000, std::string(8, '\0'))}, pongs()},
      {"4.2", "DATA of 2^14 bytes", {open + h2::data(1, std::string(16384, 'x'), true)}, succeeds()},
      {"4.2",
       "DATA beyond the frame size",
       {open + h2::data(1, std::string(16385, 'x'), true)},
       endsConnection(kFrameSizeError)},
      {"4.2",
       "HEADERS beyond the frame size",
       {h2::headers(1, h2::block(h2::get()) + h2::line("x-a", std::string(16384, 'x')), true)},
       endsConnection(kFrameSizeError)},
      {"4.3", "a field block that breaks off", {h2::headers(1, "\x40", true)}, endsConnection(kCompressionError)},
      {"4.3",
       "PRIORITY inside a field block",
       {unfinished + h2::priority(1, 0) + rest},
       endsConnection(kProtocolError)},
      {"4.3",
       "HEADERS of another stream inside a field block",
       {unfinished + h2::headers(3, h2::get(), true) + rest},
       endsConnection(kProtocolError)},
      {"5.4.1",
       "a PING that is wrong ends the connection",
       {h2::frame(H2Type::kPing, 0, 3, std::string(8, '\0'))},
       endsConnection(kProtocolError)},
      {"5.5", "an extension frame", {unknownFrame() + h2::ping()}, pongs()},
      {"5.5", "an extension frame inside a field block", {unfinished + unknownFrame()}, endsConnection(kProtocolError)},
  };
}

inline ConformanceRows serverStreamStateCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const std::string open = h2::headers(1, h2::post(), false);
  const std::string data = h2::data(1, "test", true);
  const std::string more = h2::continuation(1, h2::line("x-a", "1"), true);
  const std::string cancel = h2::rstStream(1, kCancel);
  return {
      {"5.1", "idle: DATA", {data}, endsConnection(kProtocolError)},
      {"5.1", "idle: RST_STREAM", {cancel}, endsConnection(kProtocolError)},
      {"5.1", "idle: WINDOW_UPDATE", {h2::windowUpdate(1, 100)}, endsConnection(kProtocolError)},
      {"5.1", "idle: CONTINUATION", {h2::continuation(1, h2::block(h2::get()), true)}, endsConnection(kProtocolError)},
      {"5.1", "half-closed (remote): DATA", {whole + data}, endsConnection(kStreamClosed)},
      {"5.1", "half-closed (remote): HEADERS", {whole + whole}, endsConnection(kStreamClosed)},
      {"5.1", "half-closed (remote): CONTINUATION", {whole + more}, endsConnection(kProtocolError)},
      {"5.1", "reset by the client: DATA", {open + cancel + data}, endsStream(kStreamClosed)},
      {"5.1", "reset by the client: HEADERS", {open + cancel + whole}, endsStream(kStreamClosed)},
      {"5.1", "reset by the client: CONTINUATION", {open + cancel + more}, endsConnection(kProtocolError)},
      {"5.1", "closed: DATA", {whole, data}, endsConnection(kStreamClosed)},
      {"5.1", "closed: HEADERS", {whole, whole}, endsConnection(kStreamClosed)},
      {"5.1", "closed: CONTINUATION", {whole, more}, endsConnection(kProtocolError)},
      {"5.1.1", "a stream of the server's", {h2::headers(2, h2::get(), true)}, endsConnection(kProtocolError)},
      {"5.1.1",
       "a lower stream than before",
       {h2::headers(5, h2::get(), true) + h2::headers(3, h2::get(), true)},
       endsConnection(kProtocolError)},
      {"5.1.1",
       "HEADERS of a stream that is half-closed (remote)",
       {h2::headers(5, h2::get(), true) + h2::headers(5, h2::get(), true)},
       endsConnection(kStreamClosed)},
      {"5.3.1",
       "HEADERS that depend on themselves",
       {dependent(1, h2::block(h2::get()))},
       endsConnection(kProtocolError)},
      {"5.3.1",
       "PRIORITY that depends on itself",
       {h2::priority(1, 1)},
       endsStream(kProtocolError),
       true,
       "RFC 9113 has no such rule: our SETTINGS say that we do not look at priorities, and nothing looks at them"},
  };
}

inline ConformanceRows serverConcurrencyCases() {
  std::string burst;
  for (std::uint32_t id = 1; id <= 201; id += 2) burst += h2::headers(id, h2::get(), true);
  return {{"5.1.2", "more streams than SETTINGS allow", {burst}, endsConnection(h2error::kProtocolError)}};
}

}  // namespace sluice::test::h2case
