#include "proxy/content/gzip.h"

#include <zlib.h>

#include <array>
#include <cstddef>

namespace sluice::content {

std::string gzip(const std::vector<std::string_view>& pieces) {
  constexpr int kGzipWindow = MAX_WBITS + 16;  // 16 asks zlib for the gzip format
  constexpr int kUsualMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string encoded;
  std::array<char, std::size_t{32} * 1024> room;
  const auto feed = [&](std::string_view piece, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      deflate(&stream, flush);
      encoded.append(room.data(), room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (const std::string_view piece : pieces) feed(piece, Z_NO_FLUSH);
  feed({}, Z_FINISH);
  deflateEnd(&stream);
  return encoded;
}

}  // namespace sluice::content
