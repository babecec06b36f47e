#include "test/support/external/grpc_dialogue.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "proxy/http/grpc.h"

namespace sluice::external {
namespace {

constexpr std::size_t kMostMessage = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMostUntaken = std::size_t{256} * 1024;  // bytes of answers, before a call gets no more credit
constexpr std::int32_t kStreamWindow = 256 * 1024;
constexpr std::int32_t kConnectionWindow = 16 * 1024 * 1024;

constexpr int kOk = 0;
constexpr int kResourceExhausted = 8;
constexpr int kUnimplemented = 12;
constexpr int kInternal = 13;

nghttp2_nv line(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

/// One call on a stream.
struct AnsweredCall {
  AnsweredCall(std::int32_t streamId, base::ChunkPool& pool) : id(streamId), in(pool), out(pool) {}

  const std::int32_t id;
  std::string path;
  CallAnswers answers;
  base::ByteQueue in;         // bytes that are not answered yet
  base::ByteQueue out;        // framed answers
  std::size_t ungranted = 0;  // bytes received for which the client has got no new credit
  bool hasEnded = false;      // the client will send no more
  bool isDeferred = false;    // nghttp2 waits until there is something to send
  std::optional<int> status;
};

class GrpcDialogue final : public Dialogue {
 public:
  GrpcDialogue(base::ChunkPool& pool, const std::string& path, const MakeCallAnswers& makeAnswers)
      : pool_(pool), path_(path), makeAnswers_(makeAnswers) {
    makeSession();
    const std::array settings = {
        nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000},
        nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kStreamWindow)}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }
  ~GrpcDialogue() override { nghttp2_session_del(session_); }
  GrpcDialogue(const GrpcDialogue&) = delete;
  GrpcDialogue& operator=(const GrpcDialogue&) = delete;

  void feed(std::string_view bytes) override {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    if (nghttp2_session_mem_recv(session_, data, bytes.size()) < 0) isBroken_ = true;
  }
  void produce(base::ByteQueue& out, std::size_t most) override {
    while (out.size() < most) {
      const std::uint8_t* data = nullptr;
      const ssize_t count = nghttp2_session_mem_send(session_, &data);
      if (count < 0) isBroken_ = true;
      if (count <= 0) return;
      out.append({reinterpret_cast<const char*>(data), static_cast<std::size_t>(count)});
      grantHeld();
    }
  }
  bool isOver() const override {
    return isBroken_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
  }

 private:
  static GrpcDialogue& self(void* userData) { return *static_cast<GrpcDialogue*>(userData); }
  AnsweredCall* find(std::int32_t id) {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second;
  }

  void makeSession() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) std::abort();
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    if (nghttp2_session_server_new2(&session_, callbacks, this, option) != 0) std::abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
  }

  static int onBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    GrpcDialogue& it = self(userData);
    it.calls_.try_emplace(frame->hd.stream_id, frame->hd.stream_id, it.pool_);
    return 0;
  }
  static int onHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t nameLength,
                      const std::uint8_t* value, std::size_t valueLength, std::uint8_t, void* userData) {
    AnsweredCall* call = self(userData).find(frame->hd.stream_id);
    const std::string_view field(reinterpret_cast<const char*>(name), nameLength);
    if (call != nullptr && field == ":path") call->path.assign(reinterpret_cast<const char*>(value), valueLength);
    return 0;
  }
  static int onData(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t length,
                    void* userData) {
    AnsweredCall* call = self(userData).find(id);
    if (call == nullptr) return 0;
    call->in.append({reinterpret_cast<const char*>(data), length});
    call->ungranted += length;
    self(userData).answer(*call);
    return 0;
  }
  static int onFrame(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    AnsweredCall* call = self(userData).find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) self(userData).begin(*call);
    const bool hasFlag = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (hasFlag && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      call->hasEnded = true;
      self(userData).answer(*call);
    }
    return 0;
  }
  static int onClose(nghttp2_session*, std::int32_t id, std::uint32_t, void* userData) {
    GrpcDialogue& it = self(userData);
    AnsweredCall* call = it.find(id);
    if (call == nullptr) return 0;
    // The stream is gone, but not its share of the connection's window.
    nghttp2_session_consume_connection(it.session_, call->ungranted);
    it.calls_.erase(id);
    return 0;
  }
  static ssize_t onRead(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t length,
                        std::uint32_t* flags, nghttp2_data_source*, void* userData) {
    AnsweredCall& call = *self(userData).find(id);
    const std::size_t count = std::min(length, call.out.size());
    call.out.peek(0, {reinterpret_cast<char*>(buffer), count});
    call.out.consume(count);
    if (call.out.empty() && call.status) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const std::string status = std::to_string(*call.status);
      const nghttp2_nv trailer = line("grpc-status", status);
      nghttp2_submit_trailer(session, id, &trailer, 1);
      return static_cast<ssize_t>(count);
    }
    call.isDeferred = count == 0;
    return call.isDeferred ? ssize_t{NGHTTP2_ERR_DEFERRED} : static_cast<ssize_t>(count);
  }

  void begin(AnsweredCall& call) {
    if (call.path == path_) {
      call.answers = makeAnswers_();
    } else {
      call.status = kUnimplemented;
    }
    const std::array head = {line(":status", "200"), line("content-type", "application/grpc")};
    nghttp2_data_provider body{};
    body.read_callback = onRead;
    nghttp2_submit_response(session_, call.id, head.data(), head.size(), &body);
  }

  /// Answers the messages that are whole.
  void answer(AnsweredCall& call) {
    std::string message;
    while (!call.status) {
      const http::GrpcFrame frame = http::readGrpcMessage(call.in, kMostMessage, message);
      if (frame == http::GrpcFrame::kTooLarge) call.status = kResourceExhausted;
      if (frame == http::GrpcFrame::kCompressed) call.status = kUnimplemented;
      if (frame == http::GrpcFrame::kIncomplete) {
        if (call.hasEnded) call.status = call.in.empty() ? kOk : kInternal;
        break;
      }
      if (call.status) break;
      call.in.consume(http::kGrpcPrefix + message.size());
      const std::optional<std::string> said = call.answers(message);
      if (said) {
        call.out.append(http::frameGrpcMessage(*said));
      } else {
        call.status = kInternal;
      }
    }
    if (call.status) call.in.clear();
    grant(call);
    if (call.isDeferred && (!call.out.empty() || call.status)) {
      call.isDeferred = false;
      nghttp2_session_resume_data(session_, call.id);
    }
  }

  /// Gives the client credit for the bytes that the call has received, unless the client has not taken the answers.
  void grant(AnsweredCall& call) {
    if (call.ungranted == 0) return;
    if (call.out.size() >= kMostUntaken) {
      hasHeld_ = true;
      return;
    }
    nghttp2_session_consume(session_, call.id, std::exchange(call.ungranted, 0));
  }

  void grantHeld() {
    if (!std::exchange(hasHeld_, false)) return;
    for (auto& [id, call] : calls_) grant(call);
  }

  base::ChunkPool& pool_;
  const std::string& path_;
  const MakeCallAnswers& makeAnswers_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, AnsweredCall> calls_;
  bool hasHeld_ = false;  // some call waits for credit
  bool isBroken_ = false;
};

}  // namespace

MakeDialogue makeGrpcDialogues(std::string path, MakeCallAnswers makeAnswers) {
  return [path = std::move(path), makeAnswers = std::move(makeAnswers)](base::ChunkPool& pool) {
    return std::make_unique<GrpcDialogue>(pool, path, makeAnswers);
  };
}

}  // namespace sluice::external
