// Encodes bodies with HTTP's content codings, for tests of decoders.
//
// Pure functions; they abort if a library fails.
#pragma once

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sluice::test {

/// `windowBits` is that of deflateInit2(): 15 + 16 is gzip, 15 zlib's wrapper, -15 none.
inline std::string zlibEncoded(std::string_view text, int windowBits) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string gzipped(std::string_view text) { return zlibEncoded(text, 15 + 16); }
inline std::string deflated(std::string_view text) { return zlibEncoded(text, 15); }
inline std::string rawDeflated(std::string_view text) { return zlibEncoded(text, -15); }

inline std::string brotliEncoded(std::string_view text) {
  std::size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 64;
  std::string out(size, '\0');
  const auto* in = reinterpret_cast<const std::uint8_t*>(text.data());
  if (BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, text.size(), in, &size,
                            reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_FALSE) {
    std::abort();
  }
  out.resize(size);
  return out;
}

/// Returns one frame with a checksum.
inline std::string zstdEncoded(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) std::abort();
  out.resize(size);
  return out;
}

}  // namespace sluice::test
