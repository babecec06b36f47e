#include "proxy/content/decoder.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "test/content/encoders.h"

namespace sluice::content {
namespace {

using test::brotliEncoded;
using test::deflated;
using test::gzipped;
using test::rawDeflated;
using test::zstdEncoded;

constexpr DecodeLimits kWide{UINT64_MAX, UINT32_MAX};

struct DecodedBody {
  DecodeStatus status = DecodeStatus::kTaken;
  std::string text;
};

std::string textOf(base::ByteQueue& queue) {
  std::string text;
  while (!queue.empty()) {
    text += queue.front();
    queue.consume(queue.front().size());
  }
  return text;
}

/// Decodes the whole body in the pieces that end at `cuts`.
DecodedBody decode(std::string_view coding, std::string_view body, const DecodeLimits& limits = kWide,
                   const std::vector<std::size_t>& cuts = {}) {
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  auto decoder = Decoder::make(coding, limits);
  if (!decoder) return {DecodeStatus::kCorrupt, "no such coding"};
  DecodedBody outcome;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size() && !failed(outcome.status); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : body.size();
    std::string_view piece = body.substr(begin, end - begin);
    outcome.status = decoder->feed(piece, out);
    EXPECT_TRUE(failed(outcome.status) || piece.empty());
    begin = end;
  }
  const DecodeStatus end = decoder->end();
  EXPECT_TRUE(!failed(outcome.status) || end == outcome.status) << "a failure stays one";
  outcome.status = end;
  outcome.text = textOf(out);
  return outcome;
}

/// Returns text that does not compress to nothing, the same each time.
std::string someText(std::size_t size) {
  std::string text;
  std::uint32_t seed = 1;
  while (text.size() < size) {
    seed = seed * 1664525 + 1013904223;
    text += "line " + std::to_string(seed >> 8) + ";";
  }
  text.resize(size);
  return text;
}

struct Kind {
  const char* name;
  const char* coding;
  std::function<std::string(std::string_view)> encode;

  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

class Decoders : public testing::TestWithParam<Kind> {};

TEST_P(Decoders, ReadTheSameWhereverTheInputIsCut) {
  const std::string text = someText(300);
  const std::string body = GetParam().encode(text);
  std::vector<std::size_t> everywhere;
  for (std::size_t cut = 1; cut < body.size(); ++cut) {
    const DecodedBody outcome = decode(GetParam().coding, body, kWide, {cut});
    ASSERT_EQ(outcome.status, DecodeStatus::kTaken) << cut;
    ASSERT_EQ(outcome.text, text) << cut;
    everywhere.push_back(cut);
  }
  EXPECT_EQ(decode(GetParam().coding, body, kWide, everywhere).text, text);
}

TEST_P(Decoders, RefuseATruncatedBodyWhereverItEnds) {
  const std::string body = GetParam().encode(someText(300));
  for (std::size_t size = 1; size < body.size(); ++size) {
    ASSERT_EQ(decode(GetParam().coding, body.substr(0, size)).status, DecodeStatus::kTruncated) << size;
  }
}

TEST_P(Decoders, RefuseBytesBehindTheEnd) {
  for (const char* more : {"x", "garbage", "\n"}) {
    const std::string body = GetParam().encode("a text") + more;
    EXPECT_TRUE(failed(decode(GetParam().coding, body).status));
    EXPECT_TRUE(failed(decode(GetParam().coding, body, kWide, {body.size() - 1}).status));
  }
}

TEST_P(Decoders, RefuseInputWithoutTheirCoding) {
  EXPECT_TRUE(failed(decode(GetParam().coding, "{\"this\": \"is no compressed body\"}").status));
  EXPECT_TRUE(failed(decode(GetParam().coding, std::string(100, '\xff')).status));
}

TEST_P(Decoders, AlwaysEndOnCorruptedBytes) {
  const std::string body = GetParam().encode(someText(200));
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string flipped = body;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x55);
    decode(GetParam().coding, flipped, {1024 * 1024, 1000});
  }
}

TEST_P(Decoders, StopABombAtTheRatioBeforeItIsWhole) {
  const std::string body = GetParam().encode(std::string(std::size_t{32} * 1024 * 1024, '\0'));
  const DecodedBody outcome = decode(GetParam().coding, body, {UINT64_MAX, 100});
  EXPECT_EQ(outcome.status, DecodeStatus::kTooDense);
  EXPECT_LE(outcome.text.size(), Decoder::kGraceBytes + 100 * body.size());
}

TEST_P(Decoders, AllowTheRatioAndNotOneByteMore) {
  const std::size_t size = std::size_t{1024} * 1024;
  const std::string body = GetParam().encode(std::string(size, 'a'));
  const auto ratio = static_cast<std::uint32_t>(size / body.size());
  EXPECT_EQ(decode(GetParam().coding, body, {UINT64_MAX, 2 * ratio}).status, DecodeStatus::kTaken);
  EXPECT_EQ(decode(GetParam().coding, body, {UINT64_MAX, ratio / 2}).status, DecodeStatus::kTooDense);
}

TEST_P(Decoders, StopABombAtTheLimitOfDecodedBytes) {
  const std::string body = GetParam().encode(std::string(std::size_t{8} * 1024 * 1024, '\0'));
  const DecodedBody outcome = decode(GetParam().coding, body, {1024 * 1024, UINT32_MAX});
  EXPECT_EQ(outcome.status, DecodeStatus::kTooLong);
  EXPECT_LE(outcome.text.size(), 1024U * 1024U);
}

TEST_P(Decoders, AllowTheLimitOfBytesAndNotOneMore) {
  for (const std::size_t size : {1U, 16U * 1024, 100'000U}) {
    const std::string body = GetParam().encode(someText(size));
    const DecodedBody within = decode(GetParam().coding, body, {size, UINT32_MAX});
    EXPECT_EQ(within.status, DecodeStatus::kTaken);
    EXPECT_EQ(within.text.size(), size);
    EXPECT_EQ(decode(GetParam().coding, body, {size - 1, UINT32_MAX}).status, DecodeStatus::kTooLong);
  }
}

TEST_P(Decoders, WriteNoMoreThanTheCallersRoom) {
  const std::string text = someText(5000);
  const std::string body = GetParam().encode(text);
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  auto decoder = Decoder::make(GetParam().coding, kWide);
  std::string_view rest = body;
  std::string found;
  DecodeStatus status = DecodeStatus::kMore;
  for (int calls = 0; status == DecodeStatus::kMore && calls < 1000; ++calls) {
    status = decoder->feed(rest, out, 7);
    ASSERT_LE(out.size(), 7U);
    found += textOf(out);
  }
  EXPECT_EQ(status, DecodeStatus::kTaken);
  EXPECT_EQ(decoder->end(), DecodeStatus::kTaken);
  EXPECT_EQ(found, text);
}

TEST_P(Decoders, AreIncompleteWhileOutputWaitsForRoom) {
  const std::string body = GetParam().encode(someText(5000));
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  auto decoder = Decoder::make(GetParam().coding, kWide);
  std::string_view rest = body;
  EXPECT_EQ(decoder->feed(rest, out, 7), DecodeStatus::kMore);
  EXPECT_EQ(decoder->end(), DecodeStatus::kTruncated);
}

TEST_P(Decoders, AcceptABodyWithoutAnyBytesAsEmpty) {
  EXPECT_EQ(decode(GetParam().coding, "").status, DecodeStatus::kTaken);
  const DecodedBody empty = decode(GetParam().coding, GetParam().encode(""));
  EXPECT_EQ(empty.status, DecodeStatus::kTaken);
  EXPECT_EQ(empty.text, "");
}

TEST_P(Decoders, HoldNoChunkWithoutOutput) {
  const std::string body = GetParam().encode("text");
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  auto decoder = Decoder::make(GetParam().coding, kWide);
  std::string_view first = std::string_view(body).substr(0, 1);
  decoder->feed(first, out);
  EXPECT_EQ(pool.inUse(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Decoders,
    testing::Values(Kind{"gzip", "gzip", gzipped}, Kind{"x_gzip", "X-GZip", gzipped}, Kind{"zlib", "deflate", deflated},
                    Kind{"raw", "deflate", rawDeflated}, Kind{"br", "br", brotliEncoded},
                    Kind{"zstd", "zstd", zstdEncoded},
                    Kind{"nested", "gzip, br", [](std::string_view text) { return brotliEncoded(gzipped(text)); }},
                    Kind{"fourfold", "br,zstd , gzip,\tdeflate",
                         [](std::string_view text) { return deflated(gzipped(zstdEncoded(brotliEncoded(text)))); }}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Decoder, IsNeededForMoreThanIdentity) {
  for (const char* plain : {"", "identity", " Identity , ,identity"}) EXPECT_FALSE(Decoder::needed(plain)) << plain;
  for (const char* coded : {"gzip", "identity, br", "compress"}) EXPECT_TRUE(Decoder::needed(coded)) << coded;
  EXPECT_EQ(decode("identity", "as it is").text, "as it is");
  EXPECT_EQ(decode("", "1234", {3, 1}).status, DecodeStatus::kTooLong);
}

TEST(Decoder, SupportsFourCodingsInARowAndNoUnknownOnes) {
  EXPECT_TRUE(Decoder::make("gzip, identity, gzip, gzip, gzip", kWide));
  EXPECT_FALSE(Decoder::make("gzip, gzip, gzip, gzip, gzip", kWide));
  for (const char* unknown : {"compress", "gzip, compress", "gzi", "gzipp", "gzip;q=1", "aes128gcm"}) {
    EXPECT_FALSE(Decoder::make(unknown, kWide)) << unknown;
  }
}

TEST(Decoder, ReadsMembersAndFramesOneAfterTheOther) {
  EXPECT_EQ(decode("gzip", gzipped("one ") + gzipped("") + gzipped("two")).text, "one two");
  const std::string skippable("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string frames = zstdEncoded("one ") + skippable + zstdEncoded("two");
  for (std::size_t cut = 0; cut < frames.size(); ++cut) {
    const DecodedBody outcome = decode("zstd", frames, kWide, {cut});
    EXPECT_EQ(outcome.status, DecodeStatus::kTaken);
    EXPECT_EQ(outcome.text, "one two");
  }
  EXPECT_EQ(decode("deflate", deflated("one") + deflated("two")).status, DecodeStatus::kCorrupt);
  EXPECT_EQ(decode("br", brotliEncoded("one") + brotliEncoded("two")).status, DecodeStatus::kCorrupt);
}

TEST(Decoder, RefusesAZstdWindowAboveEightMebibytes) {
  // RFC 8878 section 3.1.1.1.2: an exponent of 13 above a mantissa of 0, then of 1; one raw block.
  const std::string magic = "\x28\xb5\x2f\xfd";
  const std::string block("\x21\0\0text", 7);
  EXPECT_EQ(decode("zstd", magic + '\0' + '\x68' + block).text, "text");
  EXPECT_EQ(decode("zstd", magic + '\0' + '\x69' + block).status, DecodeStatus::kCorrupt);
}

TEST(Decoder, RefusesZstdFormatsFromBeforeTheStandard) {
  for (const char magic : {'\x22', '\x23', '\x24', '\x25', '\x26', '\x27'}) {
    std::string body = zstdEncoded("text");
    body[0] = magic;
    EXPECT_EQ(decode("zstd", body.substr(0, 1)).status, DecodeStatus::kCorrupt);
  }
}

TEST(Decoder, RefusesBrotliWithALargeWindow) {
  // RFC 7932 section 9.1 leaves 0010001 to the extension; 0x11 begins with it, then comes a window of 2 to the power
  // of 30.
  EXPECT_EQ(decode("br", std::string("\x11\x1e\x03", 3)).status, DecodeStatus::kCorrupt);
}

TEST(Decoder, BoundsTheOutputOfEachOfSeveralCodings) {
  // The output is empty in the end, but ten MiB must be read from a few KiB.
  std::string nothing;
  const std::string member = gzipped("");
  while (nothing.size() < std::size_t{10} * 1024 * 1024) nothing += member;
  EXPECT_EQ(decode("gzip, br", brotliEncoded(nothing), {UINT64_MAX, 100}).status, DecodeStatus::kTooDense);
  EXPECT_EQ(decode("gzip, br", brotliEncoded(nothing), {1024 * 1024, UINT32_MAX}).status, DecodeStatus::kTooLong);
}

TEST(Decoder, AllowsAnyRatioForTheFirstBytes) {
  const std::string grace = gzipped(std::string(Decoder::kGraceBytes, 'a'));
  EXPECT_EQ(decode("gzip", grace, {UINT64_MAX, 0}).status, DecodeStatus::kTaken);
  const std::string more = gzipped(std::string(Decoder::kGraceBytes + 1, 'a'));
  EXPECT_EQ(decode("gzip", more, {UINT64_MAX, 0}).status, DecodeStatus::kTooDense);
}

TEST(Decoder, AcceptsOrdinaryTextWithinTheRatio) {
  const std::string text = someText(Decoder::kGraceBytes + 10'000);
  EXPECT_EQ(decode("identity", text, {UINT64_MAX, 1}).status, DecodeStatus::kTaken);
  EXPECT_EQ(decode("identity", text, {UINT64_MAX, 0}).status, DecodeStatus::kTooDense);
  const std::string ordinary = gzipped(someText(4 * Decoder::kGraceBytes));
  EXPECT_EQ(decode("gzip", ordinary, {UINT64_MAX, 100}).status, DecodeStatus::kTaken);
}

TEST(Decoder, NamesTheExceededLimit) {
  EXPECT_NE(describe(DecodeStatus::kTooLong).find("limits.decompressedBody"), std::string_view::npos);
  EXPECT_NE(describe(DecodeStatus::kTooDense).find("limits.decompressionRatio"), std::string_view::npos);
}

TEST(Decoder, ReportsItsMemory) {
  const std::string text(std::size_t{1} << 20, 'x');
  const auto memoryBehind = [](std::string_view coding, std::string_view body) {
    base::ChunkPool pool;
    base::ByteQueue out(pool);
    auto decoder = Decoder::make(coding, kWide);
    const std::size_t before = decoder->memory();
    decoder->feed(body, out);
    EXPECT_GE(decoder->memory(), before);
    return decoder->memory();
  };
  EXPECT_EQ(memoryBehind("identity", text), 0U);
  EXPECT_GE(memoryBehind("gzip", gzipped(text)), 32U * 1024);
  EXPECT_GE(memoryBehind("gzip, deflate", deflated(gzipped(text))), 64U * 1024);
  // Only two thirds are fed, so that the decoder has not finished.
  EXPECT_GE(memoryBehind("br", brotliEncoded(someText(text.size())).substr(0, 600'000)), 256U * 1024);
  const std::string widest("\x28\xB5\x2F\xFD\x00\x68\x08\x00\x00x", 10);
  EXPECT_GE(memoryBehind("zstd", widest), std::size_t{8} << 20);
  EXPECT_LE(memoryBehind("zstd", widest), std::size_t{9} << 20);
}

}  // namespace
}  // namespace sluice::content
