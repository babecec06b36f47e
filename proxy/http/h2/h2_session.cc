#include "proxy/http/h2/h2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace sluice::http {
namespace {

// One read of a connection brings this much (the worker's read buffer), unless a client sends nothing but heads.
constexpr std::size_t kReadBudget = 256 * 1024;
constexpr std::size_t kHeadsBudget = HeadCharge::kFree;
// HEADERS and RST_STREAM of each stream may be queued besides the frames that the peer makes us send.
constexpr std::size_t kFramesPerStream = 2;

void* takeMemory(std::size_t size, void* memory) { return static_cast<H2Memory*>(memory)->allocate(size); }
void giveMemory(void* block, void* memory) { static_cast<H2Memory*>(memory)->release(block); }
void* takeZeroed(std::size_t count, std::size_t size, void* memory) {
  return static_cast<H2Memory*>(memory)->allocateZeroed(count, size);
}
void* changeMemory(void* block, std::size_t size, void* memory) {
  return static_cast<H2Memory*>(memory)->reallocate(block, size);
}

// Aborts on errors that only a lack of memory causes.
void mustWork(int status) {
  if (status != 0) std::abort();
}

void setOptions(nghttp2_option* option, const Limits& limits) {
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_no_http_messaging(option, 1);  // hygiene checks messages, and H2Receiver (h2_malformed.h)
  // Until SETTINGS arrive, one request goes out and the others wait here, because a backend that allows few streams
  // would refuse them.
  nghttp2_option_set_peer_max_concurrent_streams(option, 1);
  nghttp2_option_set_max_outbound_ack(option, limits.queuedControlFrames);
  nghttp2_option_set_max_send_header_block_length(option, std::size_t{2} * limits.headerBytes + 64 * 1024);
  // H2Receiver counts the peer's resets. nghttp2's own bound would count those of answered streams too, by which
  // clients end uploads and gRPC's calls.
  nghttp2_option_set_stream_reset_rate_limit(option, std::numeric_limits<std::uint64_t>::max(), 1);
}

}  // namespace

H2Session::H2Session(H2Side side, H2Events& events, base::ChunkPool& pool, const Limits& limits,
                     const base::Clock& clock, H2Memory* memory, HeadAccount* heads)
    : ownMemory_(memory == nullptr ? std::make_unique<H2Memory>() : nullptr),
      connection_(side, events, pool, limits, clock, memory == nullptr ? *ownMemory_ : *memory),
      receiver_(connection_, heads),
      sender_(connection_),
      intake_(connection_, receiver_, heads) {
  makeLibrarySession(memory == nullptr ? *ownMemory_ : *memory);
  submitSettings();
}

H2Session::~H2Session() { nghttp2_session_del(connection_.library); }

void H2Session::makeLibrarySession(H2Memory& shared) {
  nghttp2_session_callbacks* callbacks = nullptr;
  mustWork(nghttp2_session_callbacks_new(&callbacks));
  H2Receiver::registerCallbacks(callbacks);
  H2Sender::registerCallbacks(callbacks);
  nghttp2_option* option = nullptr;
  mustWork(nghttp2_option_new(&option));
  setOptions(option, limits());
  nghttp2_mem memory{&shared, takeMemory, giveMemory, takeZeroed, changeMemory};
  const bool server = connection_.side == H2Side::kServer;
  {
    const H2Memory::FrameBufferSharing sharing(shared);
    const auto make = server ? nghttp2_session_server_new3 : nghttp2_session_client_new3;
    mustWork(make(&connection_.library, callbacks, &connection_, option, &memory));
  }
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  if (!server) sender_.takePreface();
}

void H2Session::submitSettings() {
  const bool server = connection_.side == H2Side::kServer;
  const std::array<nghttp2_settings_entry, 5> entries{{
      server ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits().concurrentStreams}
             : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, std::min(limits().firstWindow, limits().streamWindow)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits().headerBytes},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},  // only a server sends it (RFC 8441 section 3)
  }};
  const std::size_t count = entries.size() - (server ? 0 : 1);
  mustWork(nghttp2_submit_settings(connection_.library, NGHTTP2_FLAG_NONE, entries.data(), count));
  mustWork(nghttp2_session_set_local_window_size(connection_.library, NGHTTP2_FLAG_NONE, 0,
                                                 static_cast<std::int32_t>(limits().connectionWindow)));
}

void H2Session::feed(std::string_view bytes) {
  if (closed() || bytes.empty()) return;
  intake_.take(bytes);
  settleReceived();
}

void H2Session::resume() {
  if (!pauses()) return;
  intake_.goOn();
  settleReceived();
}

void H2Session::settleReceived() {
  if (!closed()) boundReceived();
  if (closed()) dropInput();
}

// Called once the connection has ended: a section that has begun will not be completed, and bytes that wait will not be
// read.
void H2Session::dropInput() {
  section().clear();
  intake_.drop();
}

void H2Session::boundReceived() {
  if (queuedFrames() > limits().queuedControlFrames + kFramesPerStream * connection_.streams.count()) {
    connection_.events.limitHit(Limit::kQueuedControlFrames);
    return connection_.end(H2ErrorCode::kEnhanceYourCalm);
  }
  if (receiver_.isCreditDue()) receiver_.returnCredit();
  connection_.settle();
}

void H2Session::produce(base::ByteQueue& out, std::size_t limit) {
  sender_.writePreface(out);
  if (!connection_.failed()) {
    receiver_.returnCredit();
    if (const int error = sender_.produce(out, limit); error != 0) connection_.breakOff(error);
  }
  if (!connection_.failed()) connection_.settle();
  if (connection_.failed()) sender_.writeGoodbye(out);
  if (closed()) dropInput();
}

std::size_t H2Session::queuedFrames() const { return nghttp2_session_get_outbound_queue_size(connection_.library); }

std::size_t H2Session::budget() const {
  if (closed() || intake_.pauses()) return 0;
  const std::size_t few = limits().queuedControlFrames / 2 + kFramesPerStream * connection_.streams.count();
  if (queuedFrames() > few) return 0;
  return connection_.side == H2Side::kServer && !receiver_.bodyCame() ? kHeadsBudget : kReadBudget;
}

}  // namespace sluice::http
