#include "proxy/http/h1/h1_chunked.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::http {
namespace {

using Status = H1ChunkDecoder::Status;

struct Decoded {
  Status status = Status::kNeedMore;
  std::string body;
  std::string rest;
};

Decoded decode(std::string_view text, std::size_t piece, std::uint32_t extensionBytes = 1024) {
  H1ChunkDecoder decoder(extensionBytes);
  Decoded result;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    std::string_view input = text.substr(at, piece);
    while (!input.empty()) {
      std::string_view data;
      result.status = decoder.next(input, 1 << 20, data);
      if (result.status == Status::kData) {
        result.body += data;
      } else if (result.status != Status::kNeedMore) {
        result.rest = std::string(input) + std::string(text.substr(std::min(at + piece, text.size())));
        return result;
      }
    }
  }
  return result;
}

TEST(H1Chunked, DecodesTheSameHoweverItIsCut) {
  const std::string text =
      "5\r\nhello\r\n01;a\r\n,\r\n"
      "00000000000000A;name=value;q=\"a;\\\" \r\"\r\n";
  const std::string good =
      "5\r\nhello\r\n01;a\r\n,\r\n"
      "a;name=value;q=\"a; \\\"b\\\\\"\r\n0123456789\r\n0;last\r\n\r\nrest";
  for (std::size_t piece = 1; piece <= good.size(); ++piece) {
    const Decoded result = decode(good, piece);
    EXPECT_EQ(result.status, Status::kLastChunk) << piece;
    EXPECT_EQ(result.body, "hello,0123456789") << piece;
    EXPECT_EQ(result.rest, "\r\nrest") << piece;
    EXPECT_EQ(decode(text, piece).status, Status::kMalformed) << piece;
  }
}

TEST(H1Chunked, RefusesEverySizeThatAnotherParserCouldReadDifferently) {
  for (const std::string_view text : {"\r\n",
                                      "0x5\r\nhello\r\n",
                                      "+5\r\nhello\r\n",
                                      "-5\r\nhello\r\n",
                                      "5_\r\n",
                                      "1_0\r\n",
                                      " 5\r\n",
                                      "5 \r\n",
                                      "5\t\r\n",
                                      "\t5\r\n",
                                      "5\nhello\r\n",
                                      "5\rhello",
                                      "5\r\r\n",
                                      "g\r\n",
                                      "5\r\nhello\n",
                                      "5\r\nhelloX",
                                      "5\r\nhello0\r\n",
                                      "5\r\nhello\r\r",
                                      "\n5\r\n",
                                      "00000000000000005\r\n",
                                      "10000000000000000\r\n",
                                      "5\x0b\r\n",
                                      "5,6\r\n",
                                      "0\n"}) {
    EXPECT_EQ(decode(text, text.size()).status, Status::kMalformed) << text;
    EXPECT_EQ(decode(text, 1).status, Status::kMalformed) << text;
  }
  EXPECT_EQ(decode(std::string_view("5\0\r\nhello", 9), 9).status, Status::kMalformed);
}

TEST(H1Chunked, TakesSixteenDigits) {
  EXPECT_EQ(decode("0000000000000005\r\nhello\r\n0\r\n", 4).status, Status::kLastChunk);
  EXPECT_EQ(decode("FFFFFFFFFFFFFFFF\r\nx", 30).body, "x");
}

TEST(H1Chunked, RefusesExtensionsOutsideTheGrammar) {
  for (const std::string_view text :
       {"5;\r\nhello\r\n",  "5;;a\r\n",         "5;a\nhello",   "5;a\rhello",       "5;a=\r\n",
        "5;=b\r\n",         "5 a\r\n",          "5; \r\n",      "5;a \r\n",         "5;a= \r\n",
        "5;a=b \r\n",       "5;a=\"b\"\t\r\n",  "5 ;\ta\t\r\n", "5;a b\r\n",        "5;a = b = c\r\n",
        "5 \r\n;a\r\n",     "5;a \n",           "5\x0b;a\r\n",  "5 =b\r\n",         "5;a\t\r\n =b\r\n",
        "5;a=b c\r\n",      "5;a=b=c\r\n",      "5;a=\"b\r\n",  "5;a=\"b\nc\"\r\n", "5;a=\"b\"c\r\n",
        "5;a=\"\\\r\"\r\n", "5;a=\"\x7f\"\r\n", "5;a\x01\r\n",  "5;a=\"b\"=c\r\n",  "5;a\x80\r\n"}) {
    EXPECT_EQ(decode(text, text.size()).status, Status::kMalformed) << text;
    EXPECT_EQ(decode(text, 1).status, Status::kMalformed) << text;
  }
}

// RFC 9112 section 7.1.1: these spaces are bad, and yet they must be understood.
TEST(H1Chunked, TakesSpacesAroundThePartsOfAnExtension) {
  for (const std::string_view line : {"5 ;a", "5\t;\ta", "5; a", "5;a =b", "5;a= b", "5 ; a = b", "5;a \t=\t \"b\"",
                                      "5;a=b ;c", "5;a=\"b\" ; c=d", "5 \t ;a ; b"}) {
    const std::string text = std::string(line) + "\r\nhello\r\n0\r\n";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      const Decoded result = decode(text, piece);
      EXPECT_EQ(result.status, Status::kLastChunk) << line << ", " << piece;
      EXPECT_EQ(result.body, "hello") << line << ", " << piece;
    }
  }
  EXPECT_EQ(decode("5" + std::string(1024, ' '), 100).status, Status::kNeedMore);
  EXPECT_EQ(decode("5" + std::string(1025, ' '), 100).status, Status::kExtensionsTooLong) << "spaces count, too";
}

TEST(H1Chunked, ExtensionBytesAreBoundedPerBody) {
  EXPECT_EQ(decode("1;abc\r\nx\r\n1;abc\r\ny\r\n0\r\n", 3, 8).status, Status::kLastChunk);
  EXPECT_EQ(decode("1;abc\r\nx\r\n1;abcd\r\ny\r\n0\r\n", 3, 8).status, Status::kExtensionsTooLong);
  EXPECT_EQ(decode("1;" + std::string(100000, 'a'), 1000, 1024).status, Status::kExtensionsTooLong);
}

TEST(H1Chunked, DeliversNoMoreThanTheCredit) {
  H1ChunkDecoder decoder(0);
  std::string_view input = "5\r\nhello\r\n0\r\n";
  std::string_view data;
  EXPECT_EQ(decoder.next(input, 2, data), Status::kData);
  EXPECT_EQ(data, "he");
  EXPECT_EQ(decoder.next(input, 0, data), Status::kBlocked);
  EXPECT_EQ(decoder.next(input, 3, data), Status::kData);
  EXPECT_EQ(data, "llo");
  EXPECT_EQ(decoder.next(input, 0, data), Status::kLastChunk) << "framing needs no credit";
}

}  // namespace
}  // namespace sluice::http
