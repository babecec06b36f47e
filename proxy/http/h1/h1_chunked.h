// Takes chunked bodies apart (RFC 9112 section 7.1), strictly: 1*16 HEXDIG, extensions of exactly *( BWS ";" BWS token
// [ BWS "=" BWS ( token / quoted-string ) ] ), then CRLF, before which there is no space. Extensions are dropped, and
// bounded per body.
//
// Holds no bytes. Owned by a body reader; one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::http {

class H1ChunkDecoder {
 public:
  enum class Status : std::uint8_t {
    kNeedMore,   // all input was taken
    kData,       // `data` holds the next run of the body
    kBlocked,    // there is data, but no credit for it: nothing of it was taken
    kLastChunk,  // the trailer section follows, with at least an empty line
    kMalformed,
    kExtensionsTooLong,  // more than maxExtensionBytes in this body
  };

  explicit H1ChunkDecoder(std::uint32_t maxExtensionBytes = 0) : extensionBytesLeft_(maxExtensionBytes) {}

  /// Takes from the front of `input` up to the end of the next run of data, of at most `credit` bytes.
  Status next(std::string_view& input, std::size_t credit, std::string_view& data);

 private:
  enum class State : std::uint8_t {
    kSize,
    kSizeLf,
    kBeforeSemicolon,  // a space was seen
    kBeforeName,
    kExtensionName,
    kBeforeEquals,  // a space was seen, so the extension may also be over
    kBeforeValue,
    kExtensionToken,
    kQuoted,
    kQuotedPair,
    kAfterQuoted,
    kData,
    kDataCr,
    kDataLf,
  };

  // Takes one byte of a size line. Returns false if it is not allowed there.
  bool sizeLineByte(char c);
  bool sizeByte(char c);
  bool extensionByte(char c);
  bool nameByte(char c);
  // Takes the byte that follows a size or a whole extension: it leads to the next extension, or ends the line.
  bool afterElement(char c);
  // Takes a byte where a space leaves the state as it is, and another byte must be a part of a token: then the next
  // state is `next`.
  bool beforeToken(char c, State next);

  std::uint64_t remaining_ = 0;  // of the chunk
  std::uint32_t extensionBytesLeft_;
  State state_ = State::kSize;
  std::uint8_t digits_ = 0;
};

}  // namespace sluice::http
