#include "proxy/http/h2/h2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::http {
namespace {

// As much as one read of a connection brings (the worker's read buffer).
constexpr std::size_t kReadBudget = 256 * 1024;
// HEADERS and RST_STREAM of each stream may be queued besides what the peer makes us send.
constexpr std::size_t kFramesPerStream = 2;

void* takeMemory(std::size_t size, void* memory) { return static_cast<H2Memory*>(memory)->allocate(size); }
void giveMemory(void* block, void* memory) { static_cast<H2Memory*>(memory)->release(block); }
void* takeZeroed(std::size_t count, std::size_t size, void* memory) {
  return static_cast<H2Memory*>(memory)->allocateZeroed(count, size);
}
void* changeMemory(void* block, std::size_t size, void* memory) {
  return static_cast<H2Memory*>(memory)->reallocate(block, size);
}

// Only out of memory makes them fail.
void mustWork(int status) {
  if (status != 0) std::abort();
}

void setOptions(nghttp2_option* option, const Limits& limits) {
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // One request goes out at first, the others wait here for SETTINGS: a backend that takes few would refuse them.
  nghttp2_option_set_peer_max_concurrent_streams(option, 1);
  nghttp2_option_set_max_outbound_ack(option, limits.queuedControlFrames);
  nghttp2_option_set_max_send_header_block_length(option, std::size_t{2} * limits.headerBytes + 64 * 1024);
  // Ours counts more than this one does, so it speaks first.
  nghttp2_option_set_stream_reset_rate_limit(option, std::uint64_t{2} * limits.resetsPerMinute + 1,
                                             limits.resetsPerMinute / 60 + 1);
}

}  // namespace

H2Session::H2Session(Side side, base::ChunkPool& pool, const Limits& limits, const base::Clock& clock, H2Memory* memory)
    : pool_(pool),
      limits_(limits),
      clock_(clock),
      ownMemory_(memory == nullptr ? std::make_unique<H2Memory>() : nullptr),
      memory_(memory == nullptr ? *ownMemory_ : *memory),
      section_(pool, limits_),
      side_(side) {
  makeLibrarySession();
  submitSettings();
}

H2Session::~H2Session() {
  nghttp2_session_del(session_);
  while (streams_ != nullptr) removeStream(*streams_);
}

void H2Session::makeLibrarySession() {
  nghttp2_session_callbacks* callbacks = nullptr;
  mustWork(nghttp2_session_callbacks_new(&callbacks));
  registerReceiving(callbacks);
  registerSending(callbacks);
  nghttp2_option* option = nullptr;
  mustWork(nghttp2_option_new(&option));
  setOptions(option, limits_);
  nghttp2_mem memory{&memory_, takeMemory, giveMemory, takeZeroed, changeMemory};
  {
    const H2Memory::FrameBufferSharing sharing(memory_);
    mustWork(side_ == Side::kServer ? nghttp2_session_server_new3(&session_, callbacks, this, option, &memory)
                                    : nghttp2_session_client_new3(&session_, callbacks, this, option, &memory));
  }
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  if (side_ == Side::kClient) takePreface();
}

// nghttp2 lays the preface into the frame buffer when a client's session is made. That buffer is shared, and other
// sessions write before this one does: so the preface is taken out at once, and sent by hand.
void H2Session::takePreface() {
  const std::uint8_t* data = nullptr;
  mustWork(nghttp2_session_mem_send(session_, &data) == NGHTTP2_CLIENT_MAGIC_LEN ? 0 : NGHTTP2_ERR_INVALID_STATE);
  prefacePending_ = true;
}

void H2Session::submitSettings() {
  const std::array<nghttp2_settings_entry, 5> entries{{
      side_ == Side::kServer
          ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.concurrentStreams}
          : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, std::min(limits_.firstWindow, limits_.streamWindow)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits_.headerBytes},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},  // a server's to say (RFC 8441 section 3)
  }};
  const std::size_t count = entries.size() - (side_ == Side::kServer ? 0 : 1);
  mustWork(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, entries.data(), count));
  mustWork(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                 static_cast<std::int32_t>(limits_.connectionWindow)));
}

void H2Session::feedBytes(std::string_view bytes) {
  if (closed_ || bytes.empty()) return;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t taken = nghttp2_session_mem_recv(session_, data, bytes.size());
  if (taken < 0) {
    breakOff(static_cast<int>(taken));
    return;
  }
  if (queuedFrames() > limits_.queuedControlFrames + kFramesPerStream * liveCount_) {
    limitHit(Limit::kQueuedControlFrames);
    endConnection(ErrorCode::kEnhanceYourCalm);
    return;
  }
  if (isConnectionCreditDue()) returnConnectionCredit();
  settle();
}

std::size_t H2Session::queuedFrames() const { return nghttp2_session_get_outbound_queue_size(session_); }

std::size_t H2Session::budget() const {
  if (closed_) return 0;
  const bool peerReads = queuedFrames() <= limits_.queuedControlFrames / 2 + kFramesPerStream * liveCount_;
  return peerReads ? kReadBudget : 0;
}

int H2Session::failInside(ErrorCode code, std::optional<Limit> limit) {
  if (!failure_) failure_ = Failure{code, limit};
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

void H2Session::breakOff(int libraryError) {
  if (!failure_) {
    switch (libraryError) {
      case NGHTTP2_ERR_FLOODED:
        failure_ = Failure{ErrorCode::kEnhanceYourCalm, Limit::kQueuedControlFrames};
        break;
      case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
        failure_ = Failure{ErrorCode::kEnhanceYourCalm, Limit::kHeaderBytes};
        break;
      case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
        failure_ = Failure{ErrorCode::kProtocolError, std::nullopt};
        break;
      default:
        failure_ = Failure{ErrorCode::kInternalError, std::nullopt};
    }
  }
  if (failure_->limit) limitHit(*failure_->limit);
  endConnection(failure_->code);
}

void H2Session::endConnection(std::optional<ErrorCode> goodbye) {
  if (closed_) return;
  closed_ = failed_ = true;
  goodbye_ = goodbye;
  loseStreams();
}

void H2Session::settle() {
  if (closed_ || nghttp2_session_want_read(session_) != 0) return;
  closed_ = true;
  loseStreams();
}

void H2Session::loseStreams() {
  headIncomplete_ = false;
  for (H2Stream* stream = streams_; stream != nullptr; stream = stream->next) {
    if (stream->token == kNoToken) continue;
    streamLost(*stream, {.connectionLost = true, .unprocessed = stream->send == H2Stream::Send::kQueued});
    stream->token = kNoToken;
  }
}

bool H2Session::countReset() {
  const base::MonotonicTime now = clock_.now();
  if (resets_ == 0 || now - resetsSince_ >= std::chrono::minutes(1)) {
    resetsSince_ = now;
    resets_ = 0;
  }
  return ++resets_ <= limits_.resetsPerMinute;
}

bool H2Session::countEmptyFrame() { return ++emptyFrames_ <= limits_.emptyFrames; }

void H2Session::grantBytes(StreamId id, std::size_t count) {
  if (closed_) return;
  H2Stream* stream = find(id);
  if (stream == nullptr) return;
  count = std::min(count, stream->ungranted);
  if (count == 0) return;
  stream->ungranted -= count;
  if (nghttp2_session_consume_stream(session_, static_cast<std::int32_t>(id), count) != 0) {
    endConnection(ErrorCode::kInternalError);
  }
}

void H2Session::widenStream(StreamId id) {
  if (closed_ || find(id) == nullptr) return;
  const auto window = static_cast<std::int32_t>(limits_.streamWindow);
  if (nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id), window) != 0) {
    endConnection(ErrorCode::kInternalError);
  }
}

bool H2Session::isBlocked(StreamId id) const {
  if (closed_) return false;
  return nghttp2_session_get_stream_remote_window_size(session_, static_cast<std::int32_t>(id)) <= 0 ||
         nghttp2_session_get_remote_window_size(session_) <= 0;
}

// RFC 9113 section 5.2.2. nghttp2 does the same for padding and for DATA of streams that are gone, and says
// WINDOW_UPDATE when half of the window has been used.
void H2Session::returnConnectionCredit() {
  if (unreturned_ > 0) nghttp2_session_consume_connection(session_, std::exchange(unreturned_, 0));
}

// Three quarters of the window are used. A quarter is what one read brings, so the peer does not stand still meanwhile;
// and streams that are read have most often granted something before that, whose WINDOW_UPDATE this one can go with. A
// system call for it alone is rare.
bool H2Session::isConnectionCreditDue() const {
  const auto used = static_cast<std::uint64_t>(nghttp2_session_get_effective_recv_data_length(session_));
  return 4 * used >= std::uint64_t{3} * limits_.connectionWindow;
}

void H2Session::detach(H2Stream& stream) {
  stream.token = kNoToken;
  stream.ungranted = 0;
}

void H2Session::resetByOwner(StreamId id, ResetReason reason) {
  if (closed_) return;
  H2Stream* stream = find(id);
  if (stream == nullptr) return;
  detach(*stream);
  switch (reason) {
    case ResetReason::kCancelled:
      return submitReset(*stream, ErrorCode::kCancel);
    case ResetReason::kRefused:
      return submitReset(*stream, ErrorCode::kRefusedStream);
    case ResetReason::kFailed:
      return submitReset(*stream, ErrorCode::kInternalError);
  }
}

std::size_t H2Session::peerConcurrency() const {
  constexpr std::size_t kExpected = 100;  // RFC 9113 section 6.5.2 recommends no less
  if (!settingsArrived_) return kExpected;
  return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

std::size_t H2Session::idsLeft() const {
  constexpr std::size_t kEnd = std::size_t{1} << 31;
  return (kEnd - std::min<std::size_t>(nghttp2_session_get_next_stream_id(session_), kEnd)) / 2;
}

H2Stream* H2Session::lookUp(StreamId id) const {
  if (id == 0) return nullptr;
  const auto libraryId = static_cast<std::int32_t>(id);
  if (void* data = nghttp2_session_get_stream_user_data(session_, libraryId)) return static_cast<H2Stream*>(data);
  // nghttp2 knows a request's stream only once its HEADERS are serialised; such streams are the newest ones.
  for (H2Stream* stream = streams_; stream != nullptr && stream->send == H2Stream::Send::kQueued;
       stream = stream->next) {
    if (stream->id == id) return stream;
  }
  return nullptr;
}

H2Stream& H2Session::addStream(StreamId id) {
  static_assert(std::is_trivially_destructible_v<H2Stream>);
  auto* stream = std::construct_at(static_cast<H2Stream*>(memory_.allocate(sizeof(H2Stream))));
  stream->id = id;
  stream->next = streams_;
  if (streams_ != nullptr) streams_->previous = stream;
  streams_ = stream;
  ++liveCount_;
  return *stream;
}

void H2Session::removeStream(H2Stream& stream) {
  if (recent_ == &stream) recent_ = nullptr;
  (stream.previous != nullptr ? stream.previous->next : streams_) = stream.next;
  if (stream.next != nullptr) stream.next->previous = stream.previous;
  --liveCount_;
  memory_.release(&stream);
}

void H2Session::closeStream(H2Stream& stream, std::uint32_t code) {
  if (stream.token != kNoToken) {
    const bool refused = code == NGHTTP2_REFUSED_STREAM && !stream.resetByUs;
    streamLost(stream, {.code = code, .unprocessed = refused || stream.send == H2Stream::Send::kQueued});
  }
  removeStream(stream);
}

}  // namespace sluice::http
