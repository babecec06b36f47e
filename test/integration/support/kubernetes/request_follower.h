// Finds the heads of requests in the bytes that a client of HTTP/1.1 sends on one connection.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

struct RequestPiece {
  std::string bytes;
  bool isHead = false;  // with its empty line; else it is a part of the body of the last head
};

class RequestFollower {
 public:
  /// Returns the bytes in pieces. A head that is not yet whole is held back.
  std::vector<RequestPiece> take(std::string_view bytes);

 private:
  enum class Reads { kHead, kChunkSize, kTrailers };

  void endLine(std::vector<RequestPiece>& pieces);

  Reads reads_ = Reads::kHead;
  std::size_t body_ = 0;  // bytes until the next line
  std::string line_;
  std::string head_;
};

}  // namespace sluice::test
