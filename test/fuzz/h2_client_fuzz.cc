// Feeds any bytes from a backend to the HTTP/2 client codec, with requests that are begun, fed and cancelled as the
// first bytes choose. There must be no crash and no leak, each stream must end at most once, and the codec must have
// nothing left to do after finitely many steps.

#include <cstdint>

#include "proxy/http/h2/h2_memory.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

class FuzzBackend {
 public:
  explicit FuzzBackend(std::string_view script) : script_(script) {
    limits_.responseFields = 20;
    limits_.headerBytes = 4096;
    limits_.streamWindow = 20'000;
    limits_.emptyFrames = 5;
    limits_.queuedControlFrames = 20;
    codec_ = http::makeH2ClientCodec(sink_, pool_, limits_, clock_, &memory_);
    for (int i = 0; i < 3; ++i) begin(i == 0);
    produced(*codec_, pool_);
  }

  void feed(std::string_view bytes) {
    for (std::size_t step = 0; !bytes.empty(); ++step) {
      const std::uint8_t choice = script_.empty() ? 0 : static_cast<std::uint8_t>(script_[step % script_.size()]);
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + choice);
      codec_->feed(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
      act(choice);
    }
    codec_->feedEnd(true);
    require(codec_->state() == http::CodecState::kClosed, "the end is the end");
    require(codec_->availableStreams() == 0, "nothing can be asked behind the end");
    for (std::size_t i = 0; i < sink_.count(); ++i) {
      require(!(sink_.stream(i).ended && sink_.stream(i).reset), "a stream ends once");
    }
    produced(*codec_, pool_);
    require(!codec_->wantsProduce(), "it comes to rest");
  }

 private:
  void begin(bool withBody) {
    if (sink_.count() >= 40 || codec_->availableStreams() == 0) return;
    http::RequestHead head;
    head.method = withBody ? http::Method::kPost : http::Method::kGet;
    head.methodText = withBody ? "POST" : "GET";
    head.authority = "example.com";
    head.target = "/";
    head.body = withBody ? http::Body::kUntilEnd : http::Body::kNone;
    auto& stream = sink_.open();
    stream.request.bytes.append(std::string(3000, 'x'));
    ids_.push_back(codec_->sendRequest(stream.token, head, http::Scheme::kHttps));
    require(ids_.back() != 0, "a stream that is free is given");
  }

  void act(std::uint8_t choice) {
    const std::size_t index = choice / 8 % sink_.count();
    auto& stream = sink_.stream(index);
    switch (choice % 8) {
      case 0:
        begin(choice >= 128);
        break;
      case 1:
        codec_->reset(ids_[index], http::ResetReason::kCancelled);
        break;
      case 2:
        codec_->grant(ids_[index], stream.body.size());
        break;
      case 3:
        stream.request.finish();
        codec_->wake(ids_[index]);
        break;
      case 4:
        stream.request.breakOff();
        codec_->wake(ids_[index]);
        break;
      case 5:
        stream.gone = true;
        break;
      default:
        break;
    }
    if (choice == 0xfd) codec_->drain();
    if (choice % 2 == 0) produced(*codec_, pool_, 1 + choice * 64u);
  }

  std::string_view script_;
  base::ChunkPool pool_;
  http::Limits limits_;
  ManualClock clock_;
  http::H2Memory memory_;
  RecordingClientSink sink_{pool_};
  std::unique_ptr<http::ClientCodec> codec_;
  std::vector<http::StreamId> ids_;
};

}  // namespace
}  // namespace sluice::test

int sluice::test::fuzzH2Client(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kScript = 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sluice::test::FuzzBackend backend(bytes.substr(0, std::min(size, kScript)));
  backend.feed(bytes.substr(std::min(size, kScript)));
  return 0;
}
