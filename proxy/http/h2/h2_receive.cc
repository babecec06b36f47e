// What nghttp2 reports while it reads. Callbacks may submit frames, but never serialise, and they end the connection
// only by returning a failure: nghttp2 must not go on with the bytes behind it.

#include <nghttp2/nghttp2.h>

#include "proxy/http/h2/h2_session.h"

namespace sluice::http {
namespace {

H2FieldReader::Text textOf(nghttp2_rcbuf* buffer) {
  const nghttp2_vec view = nghttp2_rcbuf_get_buf(buffer);
  return {{reinterpret_cast<const char*>(view.base), view.len}, nghttp2_rcbuf_is_static(buffer) != 0};
}

bool endsStream(const nghttp2_frame_hd& head) { return (head.flags & NGHTTP2_FLAG_END_STREAM) != 0; }

bool isRequest(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

}  // namespace

struct H2Session::Receiving {
  static H2Session& self(void* userData) { return *static_cast<H2Session*>(userData); }
  static StreamId idOf(const nghttp2_frame_hd& head) { return static_cast<StreamId>(head.stream_id); }

  static int beginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* userData) {
    H2Session& session = self(userData);
    if (head->type != NGHTTP2_CONTINUATION) session.headIncomplete_ = false;
    const bool carriesContent =
        head->type == NGHTTP2_DATA || head->type == NGHTTP2_HEADERS || head->type == NGHTTP2_CONTINUATION;
    if (!carriesContent) return 0;
    if (head->length > 0) {
      if (head->type != NGHTTP2_DATA) session.emptyFrames_ = 0;
      return 0;
    }
    if (endsStream(*head) && head->type != NGHTTP2_CONTINUATION) return 0;
    return session.countEmptyFrame() ? 0 : session.failInside(ErrorCode::kEnhanceYourCalm, Limit::kEmptyFrames);
  }

  static int beginHeaders(nghttp2_session* library, const nghttp2_frame* frame, void* userData) {
    if (frame->hd.type != NGHTTP2_HEADERS) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // a push: refuse it
    H2Session& session = self(userData);
    session.section_.begin();
    session.headIncomplete_ = true;
    if (!isRequest(*frame)) return 0;
    H2Stream& stream = session.addStream(idOf(frame->hd));
    return nghttp2_session_set_stream_user_data(library, frame->hd.stream_id, &stream);
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name, nghttp2_rcbuf* value,
                    std::uint8_t, void* userData) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    H2Session& session = self(userData);
    if (session.section_.add(textOf(name), textOf(value))) return 0;
    return session.failInside(ErrorCode::kEnhanceYourCalm, session.section_.excess());
  }

  // Without this, nghttp2 would drop a malformed line and let the rest pass (RFC 9113 section 8.2.1 wants the message
  // refused).
  static int invalidHeader(nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf*, nghttp2_rcbuf*, std::uint8_t,
                           void* userData) {
    self(userData).headIncomplete_ = false;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    H2Session& session = self(userData);
    switch (frame->hd.type) {
      case NGHTTP2_DATA:
        return data(session, *frame);
      case NGHTTP2_HEADERS:
        session.headIncomplete_ = false;
        if (H2Stream* stream = session.find(idOf(frame->hd))) session.headArrived(*stream, endsStream(frame->hd));
        return 0;
      case NGHTTP2_RST_STREAM:
        return reset(session, *frame);
      case NGHTTP2_SETTINGS:
        session.settingsArrived_ = true;
        return 0;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) session.pinged();
        return 0;
      case NGHTTP2_GOAWAY:
        session.peerSaidGoaway_ = true;
        return 0;
      default:
        return 0;
    }
  }

  static int data(H2Session& session, const nghttp2_frame& frame) {
    if (endsStream(frame.hd)) {
      if (H2Stream* stream = session.find(idOf(frame.hd))) session.bodyEnded(*stream);
      return 0;
    }
    const bool onlyPadding = frame.hd.length > 0 && frame.hd.length == frame.data.padlen;
    if (!onlyPadding || session.countEmptyFrame()) return 0;
    return session.failInside(ErrorCode::kEnhanceYourCalm, Limit::kEmptyFrames);
  }

  static int reset(H2Session& session, const nghttp2_frame& frame) {
    H2Stream* stream = session.find(idOf(frame.hd));
    if (stream == nullptr) return 0;
    stream->resetByPeer = true;
    const bool premature =
        session.side_ == Side::kServer && stream->send != H2Stream::Send::kDone && !stream->resetByUs;
    if (!premature || session.countReset()) return 0;
    return session.failInside(ErrorCode::kEnhanceYourCalm, Limit::kResetsPerMinute);
  }

  static int dataChunk(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size,
                       void* userData) {
    H2Session& session = self(userData);
    session.emptyFrames_ = 0;
    session.unreturned_ += size;
    H2Stream* stream = session.find(static_cast<StreamId>(id));
    if (stream == nullptr || stream->token == kNoToken || stream->receive != H2Stream::Receive::kBody) return 0;
    stream->ungranted += size;
    session.bodyArrived(*stream, {reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int invalidFrame(nghttp2_session*, const nghttp2_frame* frame, int error, void* userData) {
    H2Session& session = self(userData);
    session.headIncomplete_ = false;
    const bool tooMany = error == NGHTTP2_ERR_REFUSED_STREAM || session.liveCount_ >= session.limits_.concurrentStreams;
    if (session.side_ == Side::kServer && isRequest(*frame) && tooMany) session.limitHit(Limit::kConcurrentStreams);
    return 0;
  }

  static int streamClose(nghttp2_session* library, std::int32_t id, std::uint32_t code, void* userData) {
    void* stream = nghttp2_session_get_stream_user_data(library, id);
    if (stream != nullptr) self(userData).closeStream(*static_cast<H2Stream*>(stream), code);
    return 0;
  }
};

void H2Session::registerReceiving(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, Receiving::beginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Receiving::beginHeaders);
  nghttp2_session_callbacks_set_on_header_callback2(callbacks, Receiving::header);
  nghttp2_session_callbacks_set_on_invalid_header_callback2(callbacks, Receiving::invalidHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Receiving::frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Receiving::dataChunk);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, Receiving::invalidFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Receiving::streamClose);
}

}  // namespace sluice::http
