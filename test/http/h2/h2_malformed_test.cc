// Tests how malformed messages of HTTP/2 end, on both sides. test/fuzz compares which ones are malformed with nghttp2.
#include "proxy/http/h2/h2_malformed.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

/// Returns the lines of a request, with a field behind them.
H2Lines withField(H2Lines lines, const std::string& name, const std::string& value) {
  lines.emplace_back(name, value);
  return lines;
}

class MalformedRequests : public testing::Test {
 protected:
  MalformedRequests() { codec_->feed(h2::clientHello()); }

  void feed(const std::string& bytes) {
    codec_->feed(bytes);
    reader_.feed(produced(*codec_, pool_));
  }
  /// Returns the code with which the stream was reset; kNoError if it was not.
  std::uint32_t resetOf(std::uint32_t stream) const {
    const H2Frame* reset = reader_.find(H2Type::kRstStream, stream);
    return reset == nullptr ? h2error::kNoError : reset->errorCode();
  }

  base::ChunkPool pool_;
  ManualClock clock_;
  RecordingServerSink sink_{pool_};
  std::unique_ptr<http::ServerCodec> codec_ =
      http::makeH2ServerCodec(sink_, pool_, http::Limits(), http::Scheme::kHttp, clock_);
  H2FrameReader reader_;
};

TEST_F(MalformedRequests, AreResetAndOthersGoOn) {
  feed(h2::headers(1, withField(h2::get(), "X-Upper", "a"), true) + h2::headers(3, h2::get(), true));
  EXPECT_EQ(resetOf(1), h2error::kProtocolError);
  EXPECT_EQ(reader_.goaway(), nullptr);
  ASSERT_EQ(sink_.count(), 1u) << "the owner never sees the malformed one";
  EXPECT_EQ(sink_.last().id, 3u);
  EXPECT_EQ(codec_->activeStreams(), 1u);
}

TEST_F(MalformedRequests, AreNotThoseThatAreAnswered) {
  feed(h2::headers(1, withField(h2::get(), "host", "other.test"), true));
  EXPECT_EQ(resetOf(1), h2error::kNoError);
  ASSERT_EQ(sink_.count(), 1u);
  EXPECT_TRUE(sink_.last().bad);
  EXPECT_EQ(sink_.last().error.status, 400);
}

TEST_F(MalformedRequests, LoseTheOwnerAtTheFirstByteTooMany) {
  feed(h2::headers(1, withField(h2::post(), "content-length", "3"), false) + h2::data(1, "ab", false));
  EXPECT_EQ(resetOf(1), h2error::kNoError);
  feed(h2::data(1, "cd", false) + h2::data(1, "ef", true));
  EXPECT_EQ(resetOf(1), h2error::kProtocolError);
  EXPECT_EQ(sink_.last().body, "ab");
  EXPECT_TRUE(sink_.last().reset);
  EXPECT_FALSE(sink_.last().ended);
  EXPECT_EQ(sink_.last().error.status, 400);
}

TEST_F(MalformedRequests, LoseTheOwnerAtAnEarlyEnd) {
  for (const std::string& end : {h2::data(1, "b", true), h2::headers(1, H2Lines{{"x-sum", "1"}}, true)}) {
    SCOPED_TRACE(end.size());
    RecordingServerSink sink(pool_);
    const auto codec = http::makeH2ServerCodec(sink, pool_, http::Limits(), http::Scheme::kHttp, clock_);
    codec->feed(h2::clientHello() + h2::headers(1, withField(h2::post(), "content-length", "3"), false) +
                h2::data(1, "a", false) + end);
    EXPECT_TRUE(sink.last().reset);
    EXPECT_FALSE(sink.last().ended);
  }
}

TEST_F(MalformedRequests, AreCountedEvenIfTheRequestWasRefusedBefore) {
  feed(h2::headers(1, withField(withField(h2::post(), "host", "other.test"), "content-length", "3"), false));
  ASSERT_TRUE(sink_.last().bad);
  feed(h2::data(1, "abcd", false));
  EXPECT_EQ(resetOf(1), h2error::kProtocolError);
}

TEST_F(MalformedRequests, AreThoseWithHostInTrailers) {
  feed(h2::headers(1, h2::post(), false) + h2::headers(1, H2Lines{{"host", "other.test"}}, true));
  EXPECT_EQ(resetOf(1), h2error::kProtocolError);
  EXPECT_TRUE(sink_.last().reset);
}

TEST_F(MalformedRequests, EndTheConnectionIfThereAreTooMany) {
  std::uint32_t stream = 1;
  for (std::uint32_t i = 0; i <= http::Limits().resetsPerMinute && reader_.goaway() == nullptr; ++i, stream += 2)
    feed(h2::headers(stream, withField(h2::get(), "connection", "close"), true));
  ASSERT_NE(reader_.goaway(), nullptr);
  EXPECT_EQ(reader_.goaway()->errorCode(), h2error::kEnhanceYourCalm);
}

class MalformedResponses : public testing::Test {
 protected:
  MalformedResponses() {
    http::RequestHead head;
    head.methodText = "GET";
    head.authority = "a.test";
    head.target = "/";
    codec_->sendRequest(sink_.open().token, head, http::Scheme::kHttps);
    feed(h2::settings({}));
  }

  void feed(const std::string& bytes) {
    codec_->feed(bytes);
    reader_.feed(produced(*codec_, pool_));
  }
  bool isReset() const {
    const H2Frame* reset = reader_.find(H2Type::kRstStream, 1);
    return reset != nullptr && reset->errorCode() == h2error::kProtocolError;
  }

  base::ChunkPool pool_;
  ManualClock clock_;
  RecordingClientSink sink_{pool_};
  std::unique_ptr<http::ClientCodec> codec_ = http::makeH2ClientCodec(sink_, pool_, http::Limits(), clock_);
  H2FrameReader reader_;
};

TEST_F(MalformedResponses, AreErrorsOfTheBackend) {
  feed(h2::headers(1, H2Lines{{"x", "a"}, {":status", "200"}}, true));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().reset);
  EXPECT_FALSE(sink_.last().answered);
  EXPECT_FALSE(sink_.last().unprocessed);
  EXPECT_EQ(sink_.last().error.type, base::ErrorType::kHttpProtocolError);
}

TEST_F(MalformedResponses, AreThoseWithABodyBeforeTheFinalHead) {
  feed(h2::headers(1, H2Lines{{":status", "103"}}, false) + h2::data(1, "a", false));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().reset);
  EXPECT_EQ(sink_.last().body, "");
}

TEST_F(MalformedResponses, AreInterimOnesThatEndTheStream) {
  feed(h2::headers(1, H2Lines{{":status", "103"}}, true));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().reset);
}

TEST_F(MalformedResponses, LoseTheOwnerOnceAtALengthThatDiffers) {
  feed(h2::headers(1, H2Lines{{":status", "200"}, {"content-length", "3"}}, false) + h2::data(1, "ab", true));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().answered);
  EXPECT_TRUE(sink_.last().reset);
  EXPECT_FALSE(sink_.last().ended);
}

TEST_F(MalformedResponses, DoNotTakeBackAResponseThatIsComplete) {
  feed(h2::headers(1, H2Lines{{":status", "304"}, {"content-length", "3"}}, false) + h2::data(1, "abc", true));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().ended);
  EXPECT_FALSE(sink_.last().reset);
}

TEST_F(MalformedResponses, AreNotThoseWithHostInTrailers) {
  feed(h2::headers(1, H2Lines{{":status", "200"}}, false) +
       h2::headers(1, H2Lines{{"x-sum", "1"}, {"host", "other.test"}}, true));
  EXPECT_FALSE(isReset());
  EXPECT_EQ(sink_.last().trailers, (FieldList{{"x-sum", "1"}})) << "it is not passed on";
}

TEST_F(MalformedResponses, AreThoseWithOpenTrailers) {
  feed(h2::headers(1, H2Lines{{":status", "200"}}, false) + h2::headers(1, H2Lines{{"x-sum", "1"}}, false));
  EXPECT_TRUE(isReset());
  EXPECT_TRUE(sink_.last().reset);
  EXPECT_FALSE(sink_.last().ended);
}

}  // namespace
}  // namespace sluice::test
