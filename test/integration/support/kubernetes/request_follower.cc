#include "test/integration/support/kubernetes/request_follower.h"

#include <algorithm>
#include <utility>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

std::vector<RequestPiece> RequestFollower::take(std::string_view bytes) {
  std::vector<RequestPiece> pieces;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t line = end == std::string_view::npos ? bytes.size() : end + 1;
    const std::size_t count = body_ > 0 ? std::min(body_, bytes.size()) : line;
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (body_ > 0) {
      body_ -= count;
      pieces.push_back({std::string(taken)});
    } else {
      line_ += taken;
      if (line_.back() == '\n') endLine(pieces);
    }
  }
  return pieces;
}

void RequestFollower::endLine(std::vector<RequestPiece>& pieces) {
  const std::string line = std::exchange(line_, {});
  if (reads_ != Reads::kHead) {
    pieces.push_back({line});
    if (reads_ == Reads::kTrailers) {
      if (line == "\r\n") reads_ = Reads::kHead;
    } else if (const std::size_t size = std::stoul(line, nullptr, 16); size > 0) {
      body_ = size + 2;
    } else {
      reads_ = Reads::kTrailers;
    }
    return;
  }
  head_ += line;
  if (line != "\r\n") return;
  // Both kinds of heads have fields of the same form.
  const ReceivedResponse head{0, std::exchange(head_, {}), {}};
  if (head.field("transfer-encoding")) {
    reads_ = Reads::kChunkSize;
  } else if (const auto length = head.field("content-length")) {
    body_ = std::stoul(*length);
  }
  pieces.push_back({head.head, true});
}

}  // namespace sluice::test
