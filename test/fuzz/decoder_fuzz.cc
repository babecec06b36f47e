// Decodes any bytes as a body of any codings, in any pieces and with any room: decoding ends and stays within its
// limits, and a body that decodes well in pieces decodes to the same in one.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/content/decoder.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::base::ByteQueue;
using sluice::content::DecodeLimits;
using sluice::content::Decoder;
using sluice::content::DecodeStatus;
using sluice::test::FuzzInput;
using sluice::test::require;

constexpr DecodeLimits kLimits{1024 * 1024, 200};
constexpr const char* kCodings[] = {"gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate", "br,zstd,gzip", ""};

std::string take(ByteQueue& queue) {
  std::string text;
  while (!queue.empty()) {
    text += queue.front();
    queue.consume(queue.front().size());
  }
  return text;
}

DecodeStatus inPieces(const char* coding, FuzzInput& input, std::string& body, std::string& text) {
  sluice::base::ChunkPool pool;
  ByteQueue out(pool);
  auto decoder = Decoder::make(coding, kLimits);
  while (!input.empty()) {
    std::string_view piece = input.piece(100'000);
    body += piece;
    DecodeStatus status = DecodeStatus::kMore;
    while (status == DecodeStatus::kMore) {
      const std::size_t room = 1 + input.next() % 50'000;
      status = decoder->feed(piece, out, room);
      require(out.size() <= room, "the room of the caller");
      text += take(out);
      require(text.size() <= kLimits.mostBytes, "the limit of bytes");
    }
    require(failed(status) || piece.empty(), "input is taken or refused");
  }
  return decoder->end();
}

}  // namespace

int sluice::test::fuzzDecoder(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const char* coding = kCodings[input.byte() % std::size(kCodings)];
  std::string body;
  std::string text;
  const DecodeStatus status = inPieces(coding, input, body, text);

  sluice::base::ChunkPool pool;
  ByteQueue out(pool);
  auto whole = Decoder::make(coding, kLimits);
  std::string_view rest = body;
  whole->feed(rest, out);
  const DecodeStatus again = whole->end();
  // The density at a moment depends on how the input is split.
  if (status == DecodeStatus::kTooDense || again == DecodeStatus::kTooDense) return 0;
  require(failed(status) == failed(again), "pieces do not matter");
  require(failed(status) || take(out) == text, "one text");
  return 0;
}
