#include "proxy/content/gzip.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/byte_queue.h"
#include "proxy/content/decoder.h"

namespace sluice::content {
namespace {

std::string ungzipped(std::string_view bytes) {
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  auto decoder = Decoder::make("gzip", {.mostRatio = 1100});
  EXPECT_FALSE(failed(decoder->feed(bytes, out)));
  EXPECT_EQ(decoder->end(), DecodeStatus::kTaken);
  return out.text();
}

TEST(Gzip, IsWhatTheDecoderReads) {
  std::string mixed;
  for (int i = 0; i < 100'000; ++i) mixed.push_back(static_cast<char>(i * 7 % 251));
  for (const std::string& text : {std::string(), std::string("short"), std::string(1'000'000, 'a'), mixed}) {
    EXPECT_EQ(ungzipped(gzip({text})), text);
  }
}

TEST(Gzip, IsTheSameForTheSameText) {
  EXPECT_EQ(gzip({"the same"}), gzip({"the same"}));
  EXPECT_LT(gzip({std::string(1'000'000, 'a')}).size(), 2000u);
}

}  // namespace
}  // namespace sluice::content
