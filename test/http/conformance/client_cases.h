// The cases of h2spec for clients: a server sends these frames, and a request waits on stream 1.
#pragma once

#include <string>

#include "test/http/conformance/conformance_row.h"
#include "test/support/h2_frames.h"

namespace sluice::test::h2case {

inline std::string responseHead(std::uint32_t stream, bool endStream) {
  return h2::headers(stream, {{":status", "200"}}, endStream);
}

inline ConformanceRows clientFrameFormatCases() {
  const std::string head = responseHead(1, false);
  const std::string status = h2::line(":status", "200");
  const std::string unfinished = h2::headers(1, status, false, false);
  const std::string rest = h2::continuation(1, h2::line("x-a", "1"), true);
  return {
      {"1", "the client's preface", {h2::settings({})}, {WireReaction::Kind::kSettings}, false},
      {"4.1", "a frame of unknown type", {unknownFrame() + h2::ping()}, pongs()},
      {"4.1", "a flag that is not defined", {h2::frame(H2Type::kPing, 0x16, 0, std::string(8, '\0'))}, pongs()},
      {"4.1", "the reserved bit", {h2::frame(H2Type::kPing, 0, 0x80000000, std::string(8, '\0'))}, pongs()},
      {"4.2", "DATA of 2^14 bytes", {head + h2::data(1, std::string(16384, 'x'), true)}, succeeds()},
      {"4.2",
       "DATA beyond the frame size",
       {head + h2::data(1, std::string(16385, 'x'), true)},
       endsConnection(kFrameSizeError)},
      {"4.2",
       "HEADERS beyond the frame size",
       {h2::headers(1, status + h2::line("x-a", std::string(16384, 'x')), true)},
       endsConnection(kFrameSizeError)},
      {"4.3", "a field block that breaks off", {h2::headers(1, "\x40", true)}, endsConnection(kCompressionError)},
      {"4.3",
       "PRIORITY inside a field block",
       {unfinished + h2::priority(1, 0) + rest},
       endsConnection(kProtocolError)},
      {"4.3",
       "HEADERS of another stream inside a field block",
       {unfinished + responseHead(3, true) + rest},
       endsConnection(kProtocolError)},
      {"5.4.1",
       "a PING that is wrong ends the connection",
       {h2::frame(H2Type::kPing, 0, 3, std::string(8, '\0'))},
       endsConnection(kProtocolError)},
      {"5.5", "an extension frame", {unknownFrame() + h2::ping()}, pongs()},
      {"5.5", "an extension frame inside a field block", {unfinished + unknownFrame()}, endsConnection(kProtocolError)},
  };
}

inline ConformanceRows clientStreamStateCases() {
  const std::string head = responseHead(1, false);
  const std::string whole = responseHead(1, true);
  const std::string data = h2::data(1, "test", true);
  const std::string more = h2::continuation(1, h2::line("x-a", "1"), true);
  const std::string cancel = h2::rstStream(1, kCancel);
  return {
      {"5.1", "idle: DATA", {h2::data(2, "test", true)}, endsConnection(kProtocolError)},
      {"5.1", "idle: RST_STREAM", {h2::rstStream(2, kCancel)}, endsConnection(kProtocolError)},
      {"5.1", "idle: WINDOW_UPDATE", {h2::windowUpdate(2, 100)}, endsConnection(kProtocolError)},
      {"5.1",
       "idle: CONTINUATION",
       {h2::continuation(2, h2::line(":status", "200"), true)},
       endsConnection(kProtocolError)},
      {"5.1", "reset by the server: DATA", {head + cancel + data}, endsStream(kStreamClosed)},
      {"5.1", "reset by the server: HEADERS", {head + cancel + whole}, endsStream(kStreamClosed)},
      {"5.1", "reset by the server: CONTINUATION", {head + cancel + more}, endsConnection(kProtocolError)},
      {"5.1", "closed: DATA", {whole + data}, endsConnection(kStreamClosed)},
      {"5.1", "closed: HEADERS", {whole + whole}, endsConnection(kStreamClosed)},
      {"5.1", "closed: CONTINUATION", {whole + more}, endsConnection(kProtocolError)},
      {"5.1.1", "a stream that nobody has opened", {responseHead(101, true)}, endsConnection(kProtocolError)},
  };
}

inline ConformanceRows clientDataAndHeadersCases() {
  const std::string head = responseHead(1, false);
  const std::string whole = responseHead(1, true);
  const std::string status = h2::line(":status", "200");
  const std::string unfinished = h2::headers(1, status, false, false);
  const std::string rest = h2::continuation(1, h2::line("x-a", "1"), true);
  const auto beyond = static_cast<std::uint8_t>(status.size() + 2);
  const std::uint8_t ends = h2flag::kEndHeaders | h2flag::kEndStream;
  return {
      {"6.1", "DATA on stream 0", {h2::data(0, "test", true)}, endsConnection(kProtocolError)},
      {"6.1", "DATA on a stream that is not open", {whole + h2::data(1, "test", true)}, endsConnection(kStreamClosed)},
      {"6.1",
       "DATA with more padding than payload",
       {head + padded(H2Type::kData, h2flag::kEndStream, 6, "Test", 0)},
       endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS without END_HEADERS, then PRIORITY",
       {unfinished + h2::priority(1, 0) + rest},
       endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS without END_HEADERS, then HEADERS of another stream",
       {unfinished + responseHead(3, true) + rest},
       endsConnection(kProtocolError)},
      {"6.2", "HEADERS on stream 0", {responseHead(0, true)}, endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS with more padding than payload",
       {padded(H2Type::kHeaders, ends, beyond, status, 0)},
       endsConnection(kProtocolError)},
      {"6.3", "PRIORITY on stream 0", {h2::priority(0, 0)}, endsConnection(kProtocolError)},
      {"6.3",
       "PRIORITY of 4 bytes",
       {h2::frame(H2Type::kPriority, 0, 1, std::string("\x80\0\0\1", 4))},
       endsConnection(kFrameSizeError)},
      {"6.4", "RST_STREAM on stream 0", {h2::rstStream(0, kCancel)}, endsConnection(kProtocolError)},
      {"6.4", "RST_STREAM of an idle stream", {h2::rstStream(2, kCancel)}, endsConnection(kProtocolError)},
      {"6.4",
       "RST_STREAM of 3 bytes",
       {h2::frame(H2Type::kRstStream, 0, 1, std::string(3, '\0'))},
       endsConnection(kFrameSizeError)},
  };
}

inline ConformanceRows clientConnectionFrameCases() {
  const auto wrong = [](std::uint16_t id, std::uint32_t value) { return std::vector{h2::settings({{id, value}})}; };
  const std::string limit("\0\3\0\0\0\x64", 6);
  const std::string twice = h2::windowUpdate(0, 0x7fffffff) + h2::windowUpdate(0, 0x7fffffff);
  const std::string twiceOnStream = h2::windowUpdate(1, 0x7fffffff) + h2::windowUpdate(1, 0x7fffffff);
  return {
      {"6.5",
       "an acknowledgement with a payload",
       {h2::frame(H2Type::kSettings, h2flag::kAck, 0, std::string(1, '\0'))},
       endsConnection(kFrameSizeError)},
      {"6.5", "SETTINGS on stream 1", {h2::frame(H2Type::kSettings, 0, 1, limit)}, endsConnection(kProtocolError)},
      {"6.5",
       "SETTINGS of 8 bytes",
       {h2::frame(H2Type::kSettings, 0, 0, limit + std::string("\0\2", 2))},
       endsConnection(kFrameSizeError)},
      {"6.5.2", "ENABLE_PUSH that is neither 0 nor 1", wrong(0x2, 2), endsConnection(kProtocolError)},
      {"6.5.2", "INITIAL_WINDOW_SIZE above 2^31-1", wrong(0x4, 0x80000000), endsConnection(kFlowControlError)},
      {"6.5.2", "MAX_FRAME_SIZE below 2^14", wrong(0x5, 16383), endsConnection(kProtocolError)},
      {"6.5.2", "MAX_FRAME_SIZE above 2^24-1", wrong(0x5, 0x1000000), endsConnection(kProtocolError)},
      {"6.5.2", "a setting that is not known", {h2::settings({{0xff, 1}}) + h2::ping()}, pongs()},
      {"6.5.3", "SETTINGS are acknowledged", {h2::settings({{0x3, 100}})}, {WireReaction::Kind::kAck}},
      {"6.7", "PING is answered with its payload", {h2::frame(H2Type::kPing, 0, 0, "h2 ping!")}, pongs()},
      {"6.7",
       "an answer to PING is not answered",
       {h2::frame(H2Type::kPing, h2flag::kAck, 0, "invalid!") + h2::frame(H2Type::kPing, 0, 0, "h2 ping!")},
       pongs()},
      {"6.7",
       "PING on stream 1",
       {h2::frame(H2Type::kPing, 0, 1, std::string(8, '\0'))},
       endsConnection(kProtocolError)},
      {"6.7",
       "PING of 6 bytes",
       {h2::frame(H2Type::kPing, 0, 0, std::string(6, '\0'))},
       endsConnection(kFrameSizeError)},
      {"6.8",
       "GOAWAY on stream 1",
       {h2::frame(H2Type::kGoaway, 0, 1, std::string(8, '\0'))},
       endsConnection(kProtocolError)},
      {"6.9", "WINDOW_UPDATE of 0 for the connection", {h2::windowUpdate(0, 0)}, endsConnection(kProtocolError)},
      {"6.9", "WINDOW_UPDATE of 0 for a stream", {h2::windowUpdate(1, 0)}, endsConnection(kProtocolError)},
      {"6.9",
       "WINDOW_UPDATE of 3 bytes",
       {h2::frame(H2Type::kWindowUpdate, 0, 0, std::string("\0\0\1", 3))},
       endsConnection(kFrameSizeError)},
      {"6.9.1", "the connection's window beyond 2^31-1", {twice}, endsConnection(kFlowControlError)},
      {"6.9.1", "a stream's window beyond 2^31-1", {twiceOnStream}, endsStream(kFlowControlError)},
  };
}

inline ConformanceRows clientContinuationCases() {
  const std::string begun = h2::headers(1, h2::line(":status", "200"), true, false);
  const std::string ended = responseHead(1, true);
  const std::string field = h2::line("x-a", "1");
  const std::string part = h2::continuation(1, field, false);
  const std::string last = h2::continuation(1, field, true);
  const std::string data = h2::data(1, "test", true);
  return {
      {"6.10", "several CONTINUATIONs", {begun + part + last}, succeeds()},
      {"6.10", "CONTINUATION, then DATA", {begun + part + data}, endsConnection(kProtocolError)},
      {"6.10", "CONTINUATION on stream 0", {begun + h2::continuation(0, field, true)}, endsConnection(kProtocolError)},
      {"6.10", "CONTINUATION behind HEADERS that ended the block", {ended + last}, endsConnection(kProtocolError)},
      {"6.10", "CONTINUATION behind one that ended the block", {begun + last + last}, endsConnection(kProtocolError)},
      {"6.10", "CONTINUATION behind DATA", {begun + data + part}, endsConnection(kProtocolError)},
  };
}

}  // namespace sluice::test::h2case
