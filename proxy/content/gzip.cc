#include "proxy/content/gzip.h"

#include <zlib.h>

namespace sluice::content {

std::string gzip(std::string_view text) {
  constexpr int kGzipWindow = MAX_WBITS + 16;  // 16 asks zlib for the gzip format
  constexpr int kUsualMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string encoded(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(encoded.data());
  stream.avail_out = static_cast<uInt>(encoded.size());
  deflate(&stream, Z_FINISH);  // it has all the room that it can need
  encoded.resize(stream.total_out);
  deflateEnd(&stream);
  return encoded;
}

}  // namespace sluice::content
