#include "proxy/http/h2/h2_receiver.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "proxy/http/h2/h2_malformed.h"
#include "proxy/http/h2/h2_sender.h"

namespace sluice::http {
namespace {

bool endsStream(const nghttp2_frame_hd& head) { return (head.flags & NGHTTP2_FLAG_END_STREAM) != 0; }

bool isRequest(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

}  // namespace

// nghttp2 calls these while it reads. Callbacks may submit frames, but never serialise, and they end the connection
// only by returning a failure: nghttp2 must not go on with the bytes behind it.
struct H2Receiver::Receiving {
  static H2Connection& connectionOf(void* userData) { return *static_cast<H2Connection*>(userData); }
  static H2Receiver& self(void* userData) { return *connectionOf(userData).receiver; }
  static StreamId idOf(const nghttp2_frame_hd& head) { return static_cast<StreamId>(head.stream_id); }

  static int beginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Receiver& receiver = *connection.receiver;
    switch (head->type) {
      case NGHTTP2_DATA:
        receiver.incompleteOf_ = 0;
        connection.countContent();
        return head->length > 0 || endsStream(*head) ? 0 : emptyFrame(connection);
      case NGHTTP2_HEADERS:
        receiver.incompleteOf_ = 0;
        if (const int failure = headers(connection, idOf(*head)); failure != 0) return failure;
        if (head->length == 0) return endsStream(*head) ? 0 : emptyFrame(connection);
        receiver.emptyFrames_ = 0;
        return 0;
      case NGHTTP2_CONTINUATION:
        if (head->length == 0) return emptyFrame(connection);
        receiver.emptyFrames_ = 0;
        return 0;
      case NGHTTP2_PRIORITY:
        receiver.incompleteOf_ = 0;
        // nghttp2 looks at no PRIORITY, because our SETTINGS announce that we do not; section 6.3 still requires a
        // stream.
        if (head->stream_id == 0) return connection.fail(H2ErrorCode::kProtocolError, std::nullopt);
        return controlFrame(connection);
      case NGHTTP2_RST_STREAM:
        receiver.incompleteOf_ = 0;
        return 0;
      default:
        receiver.incompleteOf_ = 0;
        return controlFrame(connection);
    }
  }
  static int emptyFrame(H2Connection& connection) {
    return connection.receiver->countEmptyFrame() ? 0
                                                  : connection.fail(H2ErrorCode::kEnhanceYourCalm, Limit::kEmptyFrames);
  }

  static int controlFrame(H2Connection& connection) {
    return connection.countControl() ? 0
                                     : connection.fail(H2ErrorCode::kEnhanceYourCalm, Limit::kControlFramesPerMinute);
  }

  // Notes that HEADERS open a stream, or answers those that come after the end of theirs. HEADERS that nghttp2 only
  // decodes, because their stream is gone, are counted like control frames; it takes at most eight CONTINUATIONs of
  // each.
  static int headers(H2Connection& connection, StreamId id) {
    const bool fromClient = connection.side == H2Side::kServer;
    if (fromClient && connection.history.isNew(id)) {
      connection.countContent();
      connection.history.open(id);
      return 0;
    }
    if (connection.history.endOf(id) != H2StreamHistory::PeerEnd::kUnknown)
      return connection.receiver->answerLateHeaders(id);
    if (!fromClient || connection.find(id) != nullptr) {
      connection.countContent();
      return 0;
    }
    return controlFrame(connection);
  }

  static int beginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    using Section = H2FieldReader::Section;
    if (frame->hd.type != NGHTTP2_HEADERS) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // a push: refuse it
    H2Receiver& receiver = self(userData);
    receiver.incompleteOf_ = idOf(frame->hd);
    if (!isRequest(*frame)) {
      const H2Stream* known = receiver.connection_.find(idOf(frame->hd));
      const bool head = known != nullptr && known->receive == H2Stream::Receive::kHead;
      receiver.section_.begin(head ? Section::kResponse : Section::kTrailers);
      return 0;
    }
    receiver.section_.begin(Section::kRequest);
    receiver.connection_.streams.add(idOf(frame->hd));
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t nameSize,
                    const std::uint8_t* value, std::size_t valueSize, std::uint8_t flags, void* userData) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    H2Receiver& receiver = self(userData);
    const std::string_view nameText(reinterpret_cast<const char*>(name), nameSize);
    const std::string_view valueText(reinterpret_cast<const char*>(value), valueSize);
    if ((flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0) return secretLine(receiver, nameText, valueText);
    return line(receiver, nameText, valueText);
  }
  static int line(H2Receiver& receiver, std::string_view name, std::string_view value) {
    const H2FieldReader::Line added = receiver.section_.add(name, value);
    return added == H2FieldReader::Line::kTaken ? 0 : heavyLine(receiver, added);
  }
  [[gnu::noinline]] static int heavyLine(H2Receiver& receiver, H2FieldReader::Line added) {
    if (added == H2FieldReader::Line::kHopeless)
      return receiver.connection_.fail(H2ErrorCode::kEnhanceYourCalm, receiver.section_.excess());
    if (receiver.connection_.side == H2Side::kClient) return 0;  // the codec towards backends takes no breaks
    receiver.breakDue_ = true;
    return NGHTTP2_ERR_PAUSE;
  }
  // Kept out of header(), which rarely needs it.
  [[gnu::noinline]] static int secretLine(H2Receiver& receiver, std::string_view name, std::string_view value) {
    const int status = line(receiver, name, value);
    if (status == 0 || status == NGHTTP2_ERR_PAUSE) receiver.section_.hideLast();
    return status;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Receiver& receiver = *connection.receiver;
    switch (frame->hd.type) {
      case NGHTTP2_DATA:
        return data(receiver, *frame);
      case NGHTTP2_HEADERS:
        receiver.incompleteOf_ = 0;
        if (H2Stream* stream = connection.find(idOf(frame->hd)))
          receiver.sectionArrived(*stream, endsStream(frame->hd));
        receiver.section_.clear();
        return 0;
      case NGHTTP2_RST_STREAM:
        return reset(connection, *frame);
      case NGHTTP2_SETTINGS:
        receiver.settingsArrived_ = true;
        receiver.peerConcurrency_ =
            nghttp2_session_get_remote_settings(connection.library, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
        return 0;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) connection.events.pinged();
        return 0;
      case NGHTTP2_GOAWAY:
        receiver.peerSaidGoaway_ = true;
        return 0;
      default:
        return 0;
    }
  }

  static int data(H2Receiver& receiver, const nghttp2_frame& frame) {
    if (endsStream(frame.hd)) {
      if (H2Stream* stream = receiver.connection_.find(idOf(frame.hd))) bodyEnded(receiver, *stream);
      return 0;
    }
    const bool onlyPadding = frame.hd.length > 0 && frame.hd.length == frame.data.padlen;
    return onlyPadding ? emptyFrame(receiver.connection_) : 0;
  }

  static void bodyEnded(H2Receiver& receiver, H2Stream& stream) {
    if (stream.violated) return;
    // A client may stop an upload whose length it has announced once it has the response.
    if (stream.isDrained()) return receiver.connection_.events.bodyEnded(stream);
    if (stream.receive == H2Stream::Receive::kHead || !stream.length.isComplete())
      return receiver.refuseMalformed(stream);
    receiver.connection_.events.bodyEnded(stream);
  }

  // A reset that ends nothing early is counted like a control frame.
  static int reset(H2Connection& connection, const nghttp2_frame& frame) {
    H2Stream* stream = connection.find(idOf(frame.hd));
    if (stream == nullptr) return controlFrame(connection);
    stream->resetByPeer = true;
    // Our RST_STREAM for a malformed message is counted when it is sent, so it may not have been counted yet.
    const bool open = stream->send != H2Stream::Send::kDone && (!stream->resetByUs || stream->violated);
    const bool premature = connection.side == H2Side::kServer && open;
    if (!premature) return controlFrame(connection);
    if (connection.countReset()) return 0;
    return connection.fail(H2ErrorCode::kEnhanceYourCalm, Limit::kResetsPerMinute);
  }

  static int dataChunk(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size,
                       void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Receiver& receiver = *connection.receiver;
    receiver.emptyFrames_ = 0;
    receiver.bodyCame_ = true;
    receiver.unreturned_ += size;
    H2Stream* stream = connection.find(static_cast<StreamId>(id));
    if (stream == nullptr || stream->violated) return 0;
    if (stream->receive == H2Stream::Receive::kHead || !stream->length.add(size)) {
      receiver.refuseMalformed(*stream);
      return 0;
    }
    stream->ungranted += size;
    if (stream->token == kNoToken || stream->receive != H2Stream::Receive::kBody) {
      if (stream->isDrained()) receiver.drain_.take(*stream, size);
      return 0;
    }
    connection.events.bodyArrived(*stream, {reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int invalidFrame(nghttp2_session*, const nghttp2_frame* frame, int error, void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Receiver& receiver = *connection.receiver;
    receiver.incompleteOf_ = 0;
    receiver.section_.clear();
    const bool tooMany =
        error == NGHTTP2_ERR_REFUSED_STREAM || connection.streams.count() >= connection.limits.concurrentStreams;
    if (connection.side == H2Side::kServer && isRequest(*frame) && tooMany)
      connection.events.limitHit(Limit::kConcurrentStreams);
    return 0;
  }

  static int streamClose(nghttp2_session*, std::int32_t id, std::uint32_t code, void* userData) {
    H2Stream* stream = connectionOf(userData).find(static_cast<StreamId>(id));
    if (stream != nullptr) self(userData).closeStream(*stream, code);
    return 0;
  }
};

void H2Receiver::registerCallbacks(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, Receiving::beginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Receiving::beginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Receiving::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Receiving::frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Receiving::dataChunk);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, Receiving::invalidFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Receiving::streamClose);
}

void H2Receiver::sectionArrived(H2Stream& stream, bool endOfStream) {
  if (stream.violated) return;
  const bool trailers = stream.receive != H2Stream::Receive::kHead;
  const bool malformed =
      section_.misusesPseudo() ||
      (trailers && (!endOfStream || !stream.length.isComplete() ||
                    isMalformedTrailers(section_.fields, stream.length, connection_.side == H2Side::kServer)));
  if (malformed) return refuseMalformed(stream);
  connection_.events.headArrived(stream, endOfStream);
}

bool H2Receiver::peerTakesTunnels() const {
  return nghttp2_session_get_remote_settings(connection_.library, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) != 0;
}

void H2Receiver::refuseMalformed(H2Stream& stream) {
  if (stream.token != kNoToken) connection_.events.streamLost(stream, {});
  stream.detach();
  connection_.sender->resetViolated(stream);
}

int H2Receiver::answerLateHeaders(StreamId id) {
  using PeerEnd = H2StreamHistory::PeerEnd;
  switch (connection_.history.endOf(id)) {
    case PeerEnd::kUnknown:
      return 0;
    case PeerEnd::kSkipped:
      return connection_.fail(H2ErrorCode::kProtocolError, std::nullopt);
    case PeerEnd::kEnded:
      return connection_.fail(H2ErrorCode::kStreamClosed, std::nullopt);
    case PeerEnd::kReset:
      answerReset(id);
      return 0;
  }
  return 0;
}

// If nghttp2 has found a violation before, nghttp2_session_terminate_session() keeps that one.
void H2Receiver::judgeData(StreamId id) {
  using PeerEnd = H2StreamHistory::PeerEnd;
  switch (connection_.history.endOf(id)) {
    case PeerEnd::kUnknown:
      return;
    case PeerEnd::kSkipped:
      nghttp2_session_terminate_session(connection_.library, NGHTTP2_PROTOCOL_ERROR);
      return;
    case PeerEnd::kEnded:
      nghttp2_session_terminate_session(connection_.library, NGHTTP2_STREAM_CLOSED);
      return;
    case PeerEnd::kReset:
      return answerReset(id);
  }
}

// One answer is enough, however many frames follow: the peer cannot make us queue more of them than it has sent resets.
void H2Receiver::answerReset(StreamId id) {
  connection_.history.close(id, H2StreamHistory::PeerEnd::kUnknown);
  nghttp2_submit_rst_stream(connection_.library, NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id),
                            NGHTTP2_STREAM_CLOSED);
}

void H2Receiver::closeStream(H2Stream& stream, std::uint32_t code) {
  if (incompleteOf_ == stream.id) {  // nghttp2 no longer reports its end
    incompleteOf_ = 0;
    section_.clear();
  }
  // A stream that we have cut short is left unknown: frames that were under way are no fault (RFC 9113 section 5.1).
  if (stream.resetByPeer) {
    connection_.history.close(stream.id, H2StreamHistory::PeerEnd::kReset);
  } else if (stream.receive == H2Stream::Receive::kDone) {
    connection_.history.close(stream.id, H2StreamHistory::PeerEnd::kEnded);
  }
  if (stream.token != kNoToken) {
    const bool refused = code == NGHTTP2_REFUSED_STREAM && !stream.resetByUs;
    const bool unprocessed = refused || stream.send == H2Stream::Send::kQueued;
    connection_.events.streamLost(stream, {.unprocessed = unprocessed});
  }
  drain_.close(stream);
  connection_.streams.remove(stream);
}

// RFC 9113 section 5.2.2. nghttp2 does the same for padding and for DATA of streams that are gone, and sends
// WINDOW_UPDATE when half of the window has been used.
void H2Receiver::returnCredit() {
  if (unreturned_ > 0) nghttp2_session_consume_connection(connection_.library, std::exchange(unreturned_, 0));
}

// Three quarters of the window are used. A quarter is what one read brings, so the peer does not stop meanwhile; and
// streams that are read have most often granted something before that, whose WINDOW_UPDATE this one can go with. A
// system call for it alone is rare.
bool H2Receiver::isCreditDue() const {
  const auto used = static_cast<std::uint64_t>(nghttp2_session_get_effective_recv_data_length(connection_.library));
  return 4 * used >= std::uint64_t{3} * connection_.limits.connectionWindow;
}

}  // namespace sluice::http
