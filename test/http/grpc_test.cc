#include "proxy/http/grpc.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "test/support/reference_page.h"

namespace sluice::http {
namespace {

class Grpc : public ::testing::Test {
 protected:
  base::ByteQueue& come(std::string_view bytes) {
    body.append(bytes);
    return body;
  }
  ResponseHead head(std::uint16_t status, std::string_view code = {}, std::string_view why = {}) {
    ResponseHead made;
    made.status = status;
    if (!code.empty()) made.headers.add(arena, FieldId::kGrpcStatus, code);
    if (!why.empty()) made.headers.add(arena, FieldId::kGrpcMessage, why);
    return made;
  }

  base::ChunkPool pool;
  base::ByteQueue body{pool};
  base::Arena arena{pool};
  std::string message;
};

TEST_F(Grpc, ACodeIsReadAsANumber) {
  EXPECT_EQ(grpcCodeOf(head(200).headers), std::nullopt);
  EXPECT_EQ(grpcCodeOf(head(200, "14").headers), 14u);
  EXPECT_EQ(grpcCodeOf(head(200, "fourteen").headers), 2u);
  EXPECT_EQ(grpcCodeOf(head(200, "14 ").headers), 2u);
}

TEST_F(Grpc, ACodeMapsToAStatusOfHttp) {
  EXPECT_EQ(httpStatusFrom(0), 200);
  EXPECT_EQ(httpStatusFrom(7), 403);
  EXPECT_EQ(httpStatusFrom(8), 429);
  EXPECT_EQ(httpStatusFrom(14), 503);
  EXPECT_EQ(httpStatusFrom(16), 401);
  EXPECT_EQ(httpStatusFrom(17), 500);
}

TEST_F(Grpc, AMessageComesOutAsItWentIn) {
  const std::string large(300'000, 'x');
  for (const std::string& text : {std::string(), std::string("how much?"), large}) {
    come(frameGrpcMessage(text));
    ASSERT_EQ(readGrpcMessage(body, large.size(), message), GrpcFrame::kMessage);
    EXPECT_EQ(message, text);
    body.consume(kGrpcPrefix + message.size());
    EXPECT_TRUE(body.empty());
  }
}

TEST_F(Grpc, TheLengthIsBigEndianBehindTheFlag) {
  EXPECT_EQ(frameGrpcMessage("abc"), std::string("\0\0\0\0\3abc", 8));
  EXPECT_EQ(frameGrpcMessage(std::string(0x10203, 'x')).substr(0, 5), std::string("\0\0\1\2\3", 5));
}

TEST_F(Grpc, AMessageInPiecesIsIncompleteUntilItsLastByte) {
  const std::string framed = frameGrpcMessage("abc") + frameGrpcMessage("d");
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(readGrpcMessage(body, 10, message), GrpcFrame::kIncomplete) << i;
    come(framed.substr(i, 1));
  }
  come(framed.substr(8));
  EXPECT_EQ(readGrpcMessage(body, 10, message), GrpcFrame::kMessage);
  EXPECT_EQ(message, "abc") << "the first one, whatever comes behind it";
}

TEST_F(Grpc, AMessageBeyondItsBoundIsRefusedByItsLengthAlone) {
  come(frameGrpcMessage("abcd").substr(0, kGrpcPrefix));
  EXPECT_EQ(readGrpcMessage(body, 4, message), GrpcFrame::kIncomplete);
  EXPECT_EQ(readGrpcMessage(body, 3, message), GrpcFrame::kTooLarge);
  body.clear();
  come(std::string("\0\xFF\xFF\xFF\xFF", 5));
  EXPECT_EQ(readGrpcMessage(body, 1 << 20, message), GrpcFrame::kTooLarge);
}

TEST_F(Grpc, ACompressedMessageIsRefused) {
  come(std::string("\1\0\0\0\0", 5));
  EXPECT_EQ(readGrpcMessage(body, 10, message), GrpcFrame::kCompressed);
}

TEST_F(Grpc, TheStatusIsThatOfTheTrailers) {
  const ResponseHead answer = head(200);
  Headers trailers;
  trailers.add(arena, FieldId::kGrpcStatus, "5");
  trailers.add(arena, FieldId::kGrpcMessage, "no%20such%2Cthing%");
  const GrpcStatus status = grpcStatusOf(answer, &trailers);
  EXPECT_EQ(status.code, 5U);
  EXPECT_EQ(status.message, "no such,thing%");
}

TEST_F(Grpc, TheStatusOfAnAnswerWithoutABodyIsInItsHead) {
  EXPECT_EQ(grpcStatusOf(head(200, "0"), nullptr).code, 0U);
  EXPECT_EQ(grpcStatusOf(head(200, "13", "oh"), nullptr).message, "oh");
  const Headers none;
  EXPECT_EQ(grpcStatusOf(head(200, "13"), &none).code, 13U);
}

TEST_F(Grpc, AnAnswerWithoutAStatusOfGrpcIsJudgedByItsHttpStatus) {
  EXPECT_EQ(grpcStatusOf(head(503), nullptr).code, 14U);
  EXPECT_EQ(grpcStatusOf(head(200), nullptr).code, 2U) << "success is said, never guessed";
  for (const char* malformed : {"", "x", "-1", "1 ", "99999999999"}) {
    EXPECT_EQ(grpcStatusOf(head(200, malformed), nullptr).code, 2U) << malformed;
  }
}

class GrpcCall : public ::testing::Test {
 protected:
  bool isSpokenBy(Version version, std::string_view contentType) {
    RequestHead head;
    head.version = version;
    if (!contentType.empty()) head.headers.add(arena, FieldId::kContentType, contentType);
    return speaksGrpc(head);
  }

  base::ChunkPool pool;
  base::Arena arena{pool};
};

TEST_F(GrpcCall, HasAContentTypeOfGrpc) {
  EXPECT_TRUE(isSpokenBy(Version::kHttp2, "application/grpc"));
  EXPECT_TRUE(isSpokenBy(Version::kHttp2, "Application/GRPC;x=y"));
  EXPECT_TRUE(isSpokenBy(Version::kHttp2, "application/grpc+json"));
  EXPECT_FALSE(isSpokenBy(Version::kHttp2, "application/grpc-web"));
  EXPECT_FALSE(isSpokenBy(Version::kHttp2, "application/grp"));
  EXPECT_FALSE(isSpokenBy(Version::kHttp2, ""));
}

TEST_F(GrpcCall, IsMadeOverHttp2Only) { EXPECT_FALSE(isSpokenBy(Version::kHttp11, "application/grpc")); }

TEST(GrpcStatus, IsMappedFromHttp) {
  EXPECT_EQ(grpcStatusFrom(400), 13U);
  EXPECT_EQ(grpcStatusFrom(401), 16U);
  EXPECT_EQ(grpcStatusFrom(403), 7U);
  EXPECT_EQ(grpcStatusFrom(404), 12U);
  for (const int unavailable : {429, 502, 503, 504})
    EXPECT_EQ(grpcStatusFrom(static_cast<std::uint16_t>(unavailable)), 14U);
  EXPECT_EQ(grpcStatusFrom(500), 2U);
}

TEST(GrpcStatus, HasItsMappingInTheReference) {
  const auto rows = test::pageTable(test::referencePage("errors.md"), "| HTTP status | gRPC status |");
  std::map<int, std::uint32_t> listed;
  std::uint32_t others = 0;
  for (const test::PageRow& row : rows) {
    const std::string number = row[1].substr(row[1].find('(') + 1);
    const auto code = static_cast<std::uint32_t>(std::stoul(number));
    std::istringstream statuses(row[0]);
    int status = 0;
    if (!(statuses >> status)) others = code;
    for (; statuses; statuses >> status) {
      listed[status] = code;
      statuses.ignore();
    }
  }
  EXPECT_EQ(listed.size(), 8U);
  for (int status = 400; status < 600; ++status) {
    const auto found = listed.find(status);
    EXPECT_EQ(grpcStatusFrom(static_cast<std::uint16_t>(status)), found == listed.end() ? others : found->second)
        << status;
  }
}

}  // namespace
}  // namespace sluice::http
