// Conformance of the server's codec to HTTP/2: the cases of h2spec, each with the bytes in one piece and in pieces.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/codec.h"
#include "test/http/conformance/conformance_row.h"
#include "test/http/conformance/server_frame_cases.h"
#include "test/http/conformance/server_message_cases.h"
#include "test/http/conformance/server_stream_cases.h"
#include "test/http/conformance/wire_verdict.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

// A server whose owner answers each request that is complete, once all bytes of a step have arrived.
class AnsweringServer {
 public:
  std::string run(const ConformanceRow& row, std::size_t piece) {
    codec_ = http::makeH2ServerCodec(sink_, pool_, limits_, http::Scheme::kHttp, clock_);
    if (row.greeted) exchange(h2::clientHello() + h2::settingsAck(), 1000);
    for (const std::string& step : row.steps) exchange(step, piece);
    const H2Frame* head = reader_.find(H2Type::kHeaders, 1);
    const bool answered = head != nullptr && head->value(":status") == "200" && sink_.stream(0).sent;
    return wireVerdict(row.reaction, {reader_, codec_->state() == http::CodecState::kClosed, answered});
  }

 private:
  void exchange(std::string_view bytes, std::size_t piece) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) codec_->feed(bytes.substr(at, piece));
    for (; answered_ < sink_.count(); ++answered_) {
      auto& stream = sink_.stream(answered_);
      if (stream.reset || !stream.ended) break;
      respond(stream);
    }
    reader_.feed(produced(*codec_, pool_));
  }
  void respond(RecordingServerSink::RecordedRequest& stream) {
    http::ResponseHead head;
    head.status = 200;
    head.body = stream.message.head.method == http::Method::kHead ? http::Body::kNone : http::Body::kUntilEnd;
    codec_->sendResponse(stream.id, head);
    stream.response.bytes.append("hello");
    stream.response.finish();
    codec_->wake(stream.id);
  }

  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  RecordingServerSink sink_{pool_};
  std::unique_ptr<http::ServerCodec> codec_;
  H2FrameReader reader_;
  std::size_t answered_ = 0;
};

ConformanceRows allServerCases() {
  ConformanceRows rows;
  for (const auto part :
       {h2case::serverFrameFormatCases, h2case::serverStreamStateCases, h2case::serverConcurrencyCases,
        h2case::serverDataAndHeadersCases, h2case::serverSettingsCases, h2case::serverConnectionFrameCases,
        h2case::serverContinuationCases, h2case::serverMessageCases, h2case::serverHpackCases,
        h2case::serverGenericStreamCases, h2case::serverGenericFrameCases}) {
    for (ConformanceRow& row : part()) rows.push_back(std::move(row));
  }
  return rows;
}

TEST(H2ServerConformance, ReactsToEachCaseAsTheProtocolWants) {
  for (const ConformanceRow& row : allServerCases()) {
    if (!row.excuse.empty()) continue;
    for (const std::size_t piece : kPieces) {
      EXPECT_EQ(AnsweringServer().run(row, piece), "") << row.section << ": " << row.name;
    }
  }
}

TEST(H2ServerConformance, HasAllCasesAndFailsAtMostTwoOnPurpose) {
  const ConformanceRows rows = allServerCases();
  EXPECT_EQ(rows.size(), 151u);
  std::size_t excused = 0;
  for (const ConformanceRow& row : rows) {
    if (row.excuse.empty()) continue;
    ++excused;
    EXPECT_NE(AnsweringServer().run(row, 1000000), "") << row.section << ": " << row.name << " needs no excuse";
  }
  EXPECT_LE(excused, 2u);
}

}  // namespace
}  // namespace sluice::test
