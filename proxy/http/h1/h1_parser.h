// Reads sections of HTTP/1.x messages: heads and trailer sections (RFC 9112 sections 2 to 5), strictly: lines end in
// CRLF and nothing else, no folding, no space where none is allowed. Input that two parsers could understand
// differently is refused.
//
// H1SectionReader finds the end of a section in whatever pieces it arrives, and enforces the limits before the end is
// there. If it arrives whole, as nearly all do, H1LineEnds finds its lines in one pass. The parse functions then work
// on the whole section, which was copied once into the message's arena, and leave views into it. Owned by a codec; one
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/error.h"
#include "proxy/http/h1/h1_line_ends.h"
#include "proxy/http/h1/h1_lines.h"
#include "proxy/http/hygiene.h"
#include "proxy/http/limits.h"

namespace sluice::http {

/// Why input is refused; `why` has static lifetime, and is nullptr if nothing is wrong.
struct H1Fault {
  const char* why = nullptr;
  std::uint16_t status = 400;
  std::optional<Limit> limit = {};

  explicit operator bool() const { return why != nullptr; }
};

enum class H1Section : std::uint8_t { kRequest, kResponse, kTrailers };

class H1SectionReader {
 public:
  enum class Status : std::uint8_t { kNeedMore, kComplete, kFailed };

  H1SectionReader(base::ChunkPool& pool, const MessageBounds& limits, H1Messages messages)
      : limits_(limits), kept_(pool), messages_(messages) {}

  /// Forgets everything and waits for a section of that kind. One empty line before a request is skipped (RFC 9112
  /// section 2.2).
  void begin(H1Section section);
  /// Scans more bytes. kNeedMore: all of them were taken and are kept. kComplete: the section ends behind the first
  /// `used` of them; collect() must follow. kFailed: fault() has the reason. Sets `ends` if it finds them.
  Status scan(std::string_view bytes, std::size_t& used, H1LineEnds& ends);
  /// The same, line by line, for sections in any form and in any pieces.
  Status scanLines(std::string_view bytes, std::size_t& used);
  /// Returns the whole section with every CRLF, the empty line at its end included; `lastPiece` holds the bytes that
  /// the last scan used, and `ends` what it found. Looks for the ends once more if the section came in several pieces.
  /// Releases the bytes that were kept.
  std::span<char> collect(base::Arena& arena, std::string_view lastPiece, H1LineEnds& ends);

  const H1Fault& fault() const { return fault_; }
  H1Messages messages() const { return messages_; }
  /// Returns the number of field lines that were seen, without the start line.
  std::size_t fieldLines() const { return section_ == H1Section::kTrailers || lines_ == 0 ? lines_ : lines_ - 1; }
  /// Returns true if some bytes of an unfinished section have arrived.
  bool pending() const { return !kept_.empty(); }
  /// Returns how many bytes of an unfinished section are kept.
  std::size_t keptBytes() const { return kept_.size(); }

 private:
  /// Counts the lines of a whole section. Returns false, and counts none, if a limit is exceeded.
  bool countWhole(const H1LineEnds& ends);
  Status keep(std::string_view bytes, std::string_view openLine);
  /// Fails because of the first byte of a start line.
  Status failStart(char first);
  Status fail(const char* why, std::uint16_t status = 400, std::optional<Limit> limit = {});
  // Both set fault_ and return false if a limit is exceeded; `size` is without the line's end, whose last bytes are in
  // `piece`.
  bool countLine(std::size_t size, std::string_view piece);
  bool withinLimits(std::size_t openLineSize, std::string_view piece);
  bool failRequestLine(std::string_view piece);
  std::uint32_t mostFields() const {
    return messages_ == H1Messages::kRequests ? limits_.headerFields : limits_.responseFields;
  }
  bool atRequestLine() const { return lines_ == 0 && section_ == H1Section::kRequest; }

  const MessageBounds& limits_;
  base::ByteQueue kept_;
  H1Fault fault_;
  std::uint32_t lineBytes_ = 0;     // of the line that is open, in kept_
  std::uint32_t sectionBytes_ = 0;  // names, values and 32 for each finished field line
  std::uint32_t lines_ = 0;
  std::uint32_t leading_ = 0;  // bytes of the current piece that belong to the empty line that is skipped
  const H1Messages messages_;
  H1Section section_ = H1Section::kRequest;
  bool skippedEmptyLine_ = false;
  bool endsInCr_ = false;  // the last byte kept
};

/// These take a section from collect(), behind which as many bytes are free as H1Lines needs, and the ends of its lines
/// as far as they are known, and leave views into it and into the bytes behind it. They return nullptr, or why the
/// section is malformed; for a request together with the status. Hygiene decides which bytes a name, value, method
/// or target may have. A higher minor version is read as HTTP/1.1 (RFC 9110 section 2.5).
H1Fault parseRequestHead(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines, base::Arena& arena,
                         RawRequest& request);
const char* parseResponseHead(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines,
                              base::Arena& arena, RawResponse& response);
const char* parseTrailers(std::span<char> section, const H1LineEnds& ends, std::size_t fieldLines, base::Arena& arena,
                          H1Messages messages, Headers& fields);

}  // namespace sluice::http
