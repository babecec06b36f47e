// Judges the frames that one of our codecs has sent in one case of conformance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "test/http/conformance/conformance_row.h"
#include "test/support/h2_frames.h"

namespace sluice::test {

/// The state of one side of a connection after the last step.
struct WireOutcome {
  const H2FrameReader& sent;
  bool closed;    // it reads nothing more
  bool answered;  // the exchange of stream 1 succeeded
};

/// Returns "" if the outcome is the reaction that the case wants, else a description of the outcome.
inline std::string wireVerdict(const WireReaction& wanted, const WireOutcome& outcome) {
  using Kind = WireReaction::Kind;
  const auto find = [&](H2Type type) -> const H2Frame* {
    for (const H2Frame& frame : outcome.sent.frames()) {
      if (frame.type == type) return &frame;
    }
    return nullptr;
  };
  const auto acknowledged = [&](H2Type type) {
    return std::count_if(outcome.sent.frames().begin(), outcome.sent.frames().end(), [type](const H2Frame& frame) {
      return frame.type == type && (frame.flags & h2flag::kAck) != 0;
    });
  };
  const H2Frame* end = find(H2Type::kGoaway);
  const H2Frame* cut = find(H2Type::kRstStream);
  std::string happened = outcome.closed ? "closed;" : "open;";
  if (end != nullptr) happened += " GOAWAY " + std::to_string(end->errorCode());
  if (cut != nullptr) happened += " RST_STREAM " + std::to_string(cut->errorCode());
  happened += outcome.answered ? "; answered" : "; not answered";
  const bool calm = (end == nullptr || end->errorCode() == h2error::kNoError) && cut == nullptr;
  const auto verdict = [&](bool holds) { return holds ? std::string() : happened; };
  switch (wanted.kind) {
    case Kind::kGoaway:
      return verdict(outcome.closed && end != nullptr && end->errorCode() == wanted.number && cut == nullptr);
    case Kind::kReset:
      return verdict(!outcome.closed && end == nullptr && cut != nullptr && cut->stream == 1 &&
                     cut->errorCode() == wanted.number && outcome.sent.count(H2Type::kRstStream) == 1);
    case Kind::kAnswer:
      return verdict(!outcome.closed && calm && outcome.answered);
    case Kind::kPong:
      return verdict(!outcome.closed && calm && acknowledged(H2Type::kPing) == 1);
    case Kind::kSettings:
      return verdict(calm && outcome.sent.frames().front().type == H2Type::kSettings &&
                     outcome.sent.frames().front().flags == 0);
    case Kind::kAck:
      return verdict(calm && acknowledged(H2Type::kSettings) == 2);  // the greeting has one too
    case Kind::kBytes:
      return verdict(calm && outcome.sent.body(1).size() == wanted.number);
    case Kind::kCalm:
      return verdict(calm);
  }
  return happened;
}

}  // namespace sluice::test
