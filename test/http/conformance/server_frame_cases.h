// The cases of h2spec's sections 6 and 7 for servers: each type of frame, and error codes.
#pragma once

#include <string>

#include "test/http/conformance/conformance_row.h"
#include "test/support/h2_frames.h"

namespace sluice::test::h2case {

inline ConformanceRows serverDataAndHeadersCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const std::string unfinished = h2::headers(1, h2::block(h2::get()), false, false);
  const std::string rest = h2::continuation(1, h2::line("x-a", "1"), true);
  const std::string block = h2::block(h2::get());
  const auto beyond = static_cast<std::uint8_t>(block.size() + 2);
  H2Lines sized = h2::post();
  sized.emplace_back("content-length", "4");
  const std::uint8_t ends = h2flag::kEndHeaders | h2flag::kEndStream;
  return {
      {"6.1", "DATA on stream 0", {h2::data(0, "test", true)}, endsConnection(kProtocolError)},
      {"6.1", "DATA on a stream that is not open", {whole + h2::data(1, "test", true)}, endsConnection(kStreamClosed)},
      {"6.1",
       "DATA with more padding than payload",
       {h2::headers(1, sized, false) + padded(H2Type::kData, h2flag::kEndStream, 6, "Test", 0)},
       endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS without END_HEADERS, then PRIORITY",
       {unfinished + h2::priority(1, 0) + rest},
       endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS without END_HEADERS, then HEADERS of another stream",
       {unfinished + h2::headers(3, h2::get(), true) + rest},
       endsConnection(kProtocolError)},
      {"6.2", "HEADERS on stream 0", {h2::headers(0, h2::get(), true)}, endsConnection(kProtocolError)},
      {"6.2",
       "HEADERS with more padding than payload",
       {padded(H2Type::kHeaders, ends, beyond, block, 0)},
       endsConnection(kProtocolError)},
      {"6.3", "PRIORITY on stream 0", {h2::priority(0, 0)}, endsConnection(kProtocolError)},
      {"6.3",
       "PRIORITY of 4 bytes",
       {whole + h2::frame(H2Type::kPriority, 0, 1, std::string("\x80\0\0\1", 4))},
       endsConnection(kFrameSizeError)},
      {"6.3", "PRIORITY of an idle stream, then HEADERS of a lower one", {h2::priority(3, 0) + whole}, succeeds()},
      {"6.4", "RST_STREAM on stream 0", {h2::rstStream(0, kCancel)}, endsConnection(kProtocolError)},
      {"6.4", "RST_STREAM of an idle stream", {h2::rstStream(1, kCancel)}, endsConnection(kProtocolError)},
      {"6.4",
       "RST_STREAM of 3 bytes",
       {whole + h2::frame(H2Type::kRstStream, 0, 1, std::string(3, '\0'))},
       endsConnection(kFrameSizeError)},
  };
}

inline ConformanceRows serverSettingsCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const auto wrong = [](std::uint16_t id, std::uint32_t value) { return std::vector{h2::settings({{id, value}})}; };
  const std::string limit("\0\3\0\0\0\x64", 6);
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
      {"6.5.3", "two values of INITIAL_WINDOW_SIZE", {h2::settings({{0x4, 100}, {0x4, 1}}), whole}, sends(1)},
      {"6.5.3", "SETTINGS are acknowledged", {h2::settings({{0x2, 0}})}, {WireReaction::Kind::kAck}},
  };
}

inline ConformanceRows serverConnectionFrameCases() {
  const std::string whole = h2::headers(1, h2::get(), true);
  const std::string open = h2::headers(1, h2::post(), false);
  const std::string twice = h2::windowUpdate(0, 0x7fffffff) + h2::windowUpdate(0, 0x7fffffff);
  const std::string twiceOnStream = h2::windowUpdate(1, 0x7fffffff) + h2::windowUpdate(1, 0x7fffffff);
  const auto window = [](std::uint32_t size) { return h2::settings({{0x4, size}}); };
  return {
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
      {"6.9", "WINDOW_UPDATE of 0 for a stream", {open + h2::windowUpdate(1, 0)}, endsConnection(kProtocolError)},
      {"6.9",
       "WINDOW_UPDATE of 3 bytes",
       {h2::frame(H2Type::kWindowUpdate, 0, 0, std::string("\0\0\1", 3))},
       endsConnection(kFrameSizeError)},
      {"6.9.1", "no more is sent than a window of 1 allows", {window(1), whole}, sends(1)},
      {"6.9.1", "the connection's window beyond 2^31-1", {twice}, endsConnection(kFlowControlError)},
      {"6.9.1", "a stream's window beyond 2^31-1", {open + twiceOnStream}, endsStream(kFlowControlError)},
      {"6.9.2", "a new INITIAL_WINDOW_SIZE widens open streams", {window(0), whole, window(1)}, sends(1)},
      {"6.9.2",
       "a window that SETTINGS made negative",
       {window(3), whole, window(2), h2::windowUpdate(1, 2)},
       sends(4)},
      {"6.9.2", "INITIAL_WINDOW_SIZE above 2^31-1", {window(0x80000000)}, endsConnection(kFlowControlError)},
      {"7", "GOAWAY with an unknown code", {h2::goaway(0, 0xff) + h2::ping()}, {WireReaction::Kind::kCalm}},
      {"7", "RST_STREAM with an unknown code", {open + h2::rstStream(1, 0xff) + h2::ping()}, pongs()},
  };
}

inline ConformanceRows serverContinuationCases() {
  const std::string begun = h2::headers(1, h2::block(h2::get()), true, false);
  const std::string ended = h2::headers(1, h2::get(), true);
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
