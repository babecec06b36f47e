// The decompression of one content coding (RFC 9110 section 8.4.1); Decoder chains several.
//
// Owned by one Decoder. Each kind wraps one library, whose header stays in that kind's .cc; its memory is its window
// and tables, bounded by the kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::content {

class Coding {
 public:
  Coding() = default;
  Coding(const Coding&) = delete;
  Coding& operator=(const Coding&) = delete;
  virtual ~Coding() = default;

  /// Takes bytes off `in` and writes to the front of `out`, which it takes off too, until one of them is empty or
  /// nothing more can be done. Returns false if the input does not have this coding, or continues after its end.
  virtual bool decode(std::string_view& in, std::span<char>& out) = 0;
  /// Returns true if the input may end here: it is complete, and all of it has been written.
  virtual bool complete() const = 0;
  /// Returns the bytes of its window and tables, as far as the input has needed them.
  virtual std::size_t memory() const = 0;
};

enum class ZlibFormat : std::uint8_t {
  kGzip,     // RFC 1952, any number of members
  kDeflate,  // RFC 1950 as RFC 9110 requires, and RFC 1951 without the wrapper as browsers accept it
};

/// Decodes with a window of 32 KiB.
std::unique_ptr<Coding> makeZlibCoding(ZlibFormat format);
/// Decodes RFC 7932 with a window of at most 16 MiB; the larger windows, which are not part of it, are refused.
std::unique_ptr<Coding> makeBrotliCoding();
/// Decodes RFC 8878, any number of frames, with a window of at most 8 MiB, as its section 3.1.1.1.2 recommends; older
/// formats are refused.
std::unique_ptr<Coding> makeZstdCoding();

}  // namespace sluice::content
