// Conformance of the client's codec to HTTP/2: the cases of h2spec, each with the bytes in one piece and in pieces.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/codec.h"
#include "test/http/conformance/client_cases.h"
#include "test/http/conformance/conformance_row.h"
#include "test/http/conformance/wire_verdict.h"
#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

// A client with one request under way, which is complete.
class AskingClient {
 public:
  std::string run(const ConformanceRow& row, std::size_t piece) {
    codec_ = http::makeH2ClientCodec(sink_, pool_, limits_, clock_);
    if (row.greeted) exchange(h2::settings({}) + h2::settingsAck(), 1000);
    http::RequestHead head;
    head.authority = "example.com";
    head.target = "/";
    EXPECT_EQ(codec_->sendRequest(sink_.open().token, head, http::Scheme::kHttp), 1u);
    exchange("", 1000);
    for (const std::string& step : row.steps) exchange(step, piece);
    const bool answered = sink_.stream(0).answered && sink_.stream(0).ended;
    return wireVerdict(row.reaction, {reader_, codec_->state() == http::CodecState::kClosed, answered});
  }

 private:
  void exchange(std::string_view bytes, std::size_t piece) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) codec_->feed(bytes.substr(at, piece));
    reader_.feed(produced(*codec_, pool_));
  }

  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  RecordingClientSink sink_{pool_};
  std::unique_ptr<http::ClientCodec> codec_;
  H2FrameReader reader_;
};

ConformanceRows allClientCases() {
  ConformanceRows rows;
  for (const auto part :
       {h2case::clientFrameFormatCases, h2case::clientStreamStateCases, h2case::clientDataAndHeadersCases,
        h2case::clientConnectionFrameCases, h2case::clientContinuationCases}) {
    for (ConformanceRow& row : part()) rows.push_back(std::move(row));
  }
  return rows;
}

TEST(H2ClientConformance, ReactsToEachCaseAsTheProtocolWants) {
  for (const ConformanceRow& row : allClientCases()) {
    for (const std::size_t piece : kPieces) {
      EXPECT_EQ(AskingClient().run(row, piece), "") << row.section << ": " << row.name;
    }
  }
}

TEST(H2ClientConformance, HasAllCasesAndFailsNoneOnPurpose) {
  const ConformanceRows rows = allClientCases();
  EXPECT_EQ(rows.size(), 61u);
  for (const ConformanceRow& row : rows) EXPECT_TRUE(row.excuse.empty()) << row.section << ": " << row.name;
}

}  // namespace
}  // namespace sluice::test
