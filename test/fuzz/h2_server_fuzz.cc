// Feeds any bytes from a client to the HTTP/2 server codec, with an owner that answers, takes, resets and drains as the
// first bytes choose. There must be no crash, no leak and no event of a stream that is over, and the codec must have
// nothing left to do after finitely many steps.

#include <cstdint>

#include "proxy/http/h2/h2_memory.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

class FuzzScript {
 public:
  explicit FuzzScript(std::string_view bytes) : bytes_(bytes) {}
  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_[at_ % bytes_.size()]);
    ++at_;
    return byte;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

class FuzzClient {
 public:
  explicit FuzzClient(std::string_view script) : script_(script) {
    limits_.concurrentStreams = 8;
    limits_.headerFields = 20;
    limits_.headerBytes = 4096;
    limits_.streamWindow = 20'000;
    limits_.drainBytes = 1000;
    limits_.resetsPerMinute = 5;
    limits_.emptyFrames = 5;
    limits_.queuedControlFrames = 20;
    codec_ = http::makeH2ServerCodec(sink_, pool_, limits_, http::Scheme::kHttp, clock_, &memory_);
  }

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + script_.next());
      codec_->feed(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
      act(script_.next());
    }
    while (codec_->wantsResume()) codec_->resume();
    require(codec_->activeStreams() <= limits_.concurrentStreams, "never more streams than allowed");
    codec_->feedEnd();
    require(codec_->state() == http::CodecState::kClosed, "the end is the end");
    produced(*codec_, pool_);
    require(!codec_->wantsProduce(), "it comes to rest");
  }

 private:
  void act(std::uint8_t choice) {
    if (sink_.count() > 0) {
      auto& stream = sink_.stream(choice / 16 % sink_.count());
      switch (choice % 16) {
        case 0:
          respond(stream);
          break;
        case 1:
          codec_->reset(stream.id, http::ResetReason::kCancelled);
          break;
        case 2:
          codec_->grant(stream.id, stream.body.size());
          break;
        case 3:
          stream.response.breakOff();
          codec_->wake(stream.id);
          break;
        case 4:
          stream.response.bytes.append("more");
          codec_->wake(stream.id);
          break;
        case 5:
          stream.gone = true;
          break;
        default:
          break;
      }
    }
    if (choice % 8 == 7) codec_->resume();
    if (choice == 0xff) codec_->drain();
    if (choice == 0xfd) codec_->endDrains(codec_->drainedSince());
    if (choice == 0xfe) sink_.refuse = !sink_.refuse;
    if (choice % 2 == 0) produced(*codec_, pool_, 1 + choice * 64u);
  }

  void respond(RecordingServerSink::RecordedRequest& stream) {
    http::ResponseHead head;
    head.status = 200;
    head.body = http::Body::kUntilEnd;
    codec_->sendResponse(stream.id, head);
    stream.response.bytes.append(std::string(3000, 'x'));
    stream.response.finish();
  }

  FuzzScript script_;
  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  http::H2Memory memory_;
  RecordingServerSink sink_{pool_};
  std::unique_ptr<http::ServerCodec> codec_;
};

}  // namespace
}  // namespace sluice::test

int sluice::test::fuzzH2Server(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kScript = 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sluice::test::FuzzClient client(bytes.substr(0, std::min(size, kScript)));
  // The preface is given, because nearly every input would end there otherwise.
  client.feed(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").append(bytes.substr(std::min(size, kScript))));
  return 0;
}
