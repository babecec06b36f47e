// Decodes a body's Content-Encoding while it streams: gzip, x-gzip, deflate, br and zstd, and several in a row.
//
// Owned by the reader of one body; one thread; sans-IO. Its memory is each coding's window (Coding states its size), 16
// KiB between one coding and the next, and the bytes written to the caller's queue: nothing grows with the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/base/byte_queue.h"
#include "proxy/content/coding.h"

namespace sluice::content {

struct DecodeLimits {
  /// Bytes of the whole decoded body: `limits.decompressedBody`. One coding may pass twice as many to the next, plus
  /// Decoder::kGraceBytes: no encoder makes so much of a body that is within the limit.
  std::uint64_t mostBytes = std::uint64_t{16} * 1024 * 1024;
  /// Bytes out for each byte in, at any moment and for each coding: `limits.decompressionRatio`. The first
  /// Decoder::kGraceBytes are free.
  std::uint32_t mostRatio = 100;
};

enum class DecodeStatus : std::uint8_t {
  kTaken,      // all input is taken, and all its output has been written; at the end: the body is complete
  kMore,       // the room is used up: call again with the rest of the input
  kCorrupt,    // the body is not valid in its codings, or continues after its end
  kTruncated,  // the body ends early
  kTooLong,    // the body exceeds limits.decompressedBody
  kTooDense,   // the body exceeds limits.decompressionRatio
};

inline bool failed(DecodeStatus status) { return status != DecodeStatus::kTaken && status != DecodeStatus::kMore; }
/// Describes the fault, for a sentence that begins with "the body"; names the limit that was exceeded.
std::string_view describe(DecodeStatus status);

class Decoder {
 public:
  static constexpr std::size_t kMostCodings = 4;
  static constexpr std::uint64_t kGraceBytes = std::uint64_t{64} * 1024;

  /// Returns true if a body with this Content-Encoding (RFC 9110 section 8.4; all of its field lines, joined by
  /// commas) is encoded at all: false if it is empty or `identity`.
  static bool needed(std::string_view contentEncoding);
  /// Returns nothing if a coding is unknown or there are more than kMostCodings. Without a coding, bytes pass as they
  /// are.
  static std::optional<Decoder> make(std::string_view contentEncoding, const DecodeLimits& limits);

  /// Takes bytes off `in` and appends the decoded ones to `out`, at most `room` bytes and never more than the limits
  /// allow. After a failure, every call fails.
  DecodeStatus feed(std::string_view& in, base::ByteQueue& out, std::size_t room = SIZE_MAX);
  /// Ends the body: returns kTaken, or the failure. A body without any bytes is complete, whatever its codings,
  /// because origins send such bodies.
  DecodeStatus end();
  /// Returns the bytes of memory in use.
  std::size_t memory() const;

 private:
  struct CodingStage {
    std::unique_ptr<Coding> coding;
    std::vector<char> held;    // output for the next coding; the last one writes to the caller
    std::string_view waiting;  // the part of `held` not yet taken
    std::uint64_t written = 0;
    bool fed = false;
  };

  explicit Decoder(const DecodeLimits& limits) : limits_(limits) {}

  void append(std::unique_ptr<Coding> coding);
  std::uint64_t longest(const CodingStage& stage) const;
  std::uint64_t densest() const;
  bool step(std::size_t index, std::string_view& in, base::ByteQueue& out, std::size_t& room);
  DecodeStatus judge(const CodingStage& stage) const;

  DecodeLimits limits_;
  std::vector<CodingStage> stages_;
  std::uint64_t taken_ = 0;  // encoded bytes of the body so far
  DecodeStatus failure_ = DecodeStatus::kTaken;
};

}  // namespace sluice::content
