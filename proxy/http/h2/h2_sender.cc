#include "proxy/http/h2/h2_sender.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/http/h2/h2_priority.h"
#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

const std::uint8_t* asBytes(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

bool holds(std::string_view value, int (*check)(const std::uint8_t*, std::size_t)) {
  return !value.empty() && check(asBytes(value), value.size()) != 0;
}

// The codec has made the other control data: numbers, and words of its own. Most requests of a connection have one
// authority, which is then not checked again.
bool isSendable(const RequestHead& head, KnownAuthority& known) {
  if (!holds(head.methodText, nghttp2_check_method)) return false;
  if (head.method != Method::kConnect && !holds(head.target, nghttp2_check_path)) return false;
  if (head.authority.empty() || known.is(head.authority)) return true;
  if (!holds(head.authority, nghttp2_check_authority)) return false;
  known.remember(head.authority);
  return true;
}

// nghttp2's flags for the fields of each id. Credentials are never indexed (RFC 7541 section 7.1.3): those of many
// clients go over one connection to a backend, from whose table one of them could guess what another has sent.
constexpr std::array<std::uint8_t, kFieldIds> kFieldFlags = [] {
  std::array<std::uint8_t, kFieldIds> flags{};
  for (std::size_t id = 1; id < flags.size(); ++id) flags[id] = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  for (const FieldId id :
       {FieldId::kAuthorization, FieldId::kCookie, FieldId::kProxyAuthorization, FieldId::kSetCookie})
    flags[static_cast<std::size_t>(id)] |= NGHTTP2_NV_FLAG_NO_INDEX;
  return flags;
}();

int flagsOf(const Field& field) {
  return kFieldFlags[static_cast<std::size_t>(field.id)] | (isSecret(field.care) ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
}

bool isRegularName(std::string_view name) {
  return !name.starts_with(':') && nghttp2_check_header_name(asBytes(name), name.size()) != 0;
}

// A field section in nghttp2's form, on the stack unless it is long. Lines that filters have added after hygiene are
// checked: HTTP/2 would carry a line break faithfully to a peer that uses HTTP/1.1.
class LineList {
 public:
  explicit LineList(std::size_t lines) {
    if (lines > few_.size()) {
      many_.resize(lines);
      lines_ = many_.data();
    }
  }

  void addControl(std::span<const H2Sender::ControlLine> lines, int secrecy) {
    for (const H2Sender::ControlLine& line : lines) {
      add(line.name, line.value, NGHTTP2_NV_FLAG_NO_COPY_NAME | secrecy);
    }
  }
  bool addField(const Field& field) {
    const bool clean = isClean(field.care);
    if (!clean && !isFieldValue(field.value)) return false;
    if (field.id != FieldId::kOther) {
      add(fieldName(field.id), field.value, flagsOf(field));
      return true;
    }
    if (!clean && !isRegularName(field.name)) return false;
    add(field.name, field.value, flagsOf(field));
    return true;
  }
  bool addFields(const Headers& fields) {
    for (const Field& field : fields) {
      if (!isCodecField(field.id) && !addField(field)) return false;
    }
    return true;
  }

  // As addFields(), but the last line with the id of a request goes into `raw` if it fits. The last one, so that lines
  // of one name keep their order.
  bool addFields(const Headers& fields, H2RawLine& raw) {
    const Field* id = nullptr;
    for (const Field& field : fields) {
      if (isCodecField(field.id)) continue;
      const Field* next = &field;
      if (field.id == FieldId::kXRequestId && (isClean(field.care) || isFieldValue(field.value))) std::swap(next, id);
      if (next != nullptr && !addField(*next)) return false;
    }
    return id == nullptr || raw.set(fieldName(id->id), id->value) || addField(*id);
  }

  const nghttp2_nv* data() const { return lines_; }
  std::size_t size() const { return size_; }

 private:
  void add(std::string_view name, std::string_view value, int flags) {
    // nghttp2 declares them mutable and never writes through them.
    lines_[size_++] = {const_cast<std::uint8_t*>(asBytes(name)), const_cast<std::uint8_t*>(asBytes(value)), name.size(),
                       value.size(), static_cast<std::uint8_t>(flags)};
  }

  std::array<nghttp2_nv, 48> few_;
  std::vector<nghttp2_nv> many_;
  nghttp2_nv* lines_ = few_.data();
  std::size_t size_ = 0;
};

constexpr std::size_t kFrameHead = 9;
constexpr std::size_t kMostPayload = 16384;  // that every peer takes (RFC 9113 section 4.2), and nghttp2 sends

using FrameHead = std::array<char, kFrameHead>;

void setLength(FrameHead& head, std::size_t length) {
  head[0] = static_cast<char>(length >> 16);
  head[1] = static_cast<char>(length >> 8);
  head[2] = static_cast<char>(length);
}

// Appends a frame that ends a block, with `line` as the last one of the block: in the frame if it has room, else in a
// CONTINUATION behind it.
void appendWithLine(base::ByteQueue& out, std::string_view frame, std::string_view line) {
  FrameHead head;
  std::memcpy(head.data(), frame.data(), head.size());
  const std::string_view payload(frame.data() + head.size(), frame.size() - head.size());
  assert((head[4] & NGHTTP2_FLAG_END_HEADERS) != 0);
  if (payload.size() + line.size() <= kMostPayload) {
    setLength(head, payload.size() + line.size());
    out.append({head.data(), head.size()});
    out.append(payload);
    return out.append(line);
  }
  head[4] &= static_cast<char>(~NGHTTP2_FLAG_END_HEADERS);
  out.append({head.data(), head.size()});
  out.append(payload);
  setLength(head, line.size());
  head[3] = NGHTTP2_CONTINUATION;
  head[4] = NGHTTP2_FLAG_END_HEADERS;
  out.append({head.data(), head.size()});
  out.append(line);
}

constexpr const char* kBadLine = "a field of the message cannot be sent";
constexpr const char* kBrokenBody = "the body broke off";

}  // namespace

struct H2Sender::Sending {
  static H2Connection& connectionOf(void* userData) { return *static_cast<H2Connection*>(userData); }
  static H2Sender& self(void* userData) { return *connectionOf(userData).sender; }

  // Abandons the stream; nothing more is read from its pipe.
  static ssize_t abandon(H2Sender& sender, H2Stream& stream, H2ErrorCode code) {
    sender.submitReset(stream, code);
    return NGHTTP2_ERR_DEFERRED;
  }

  static ssize_t read(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t length, std::uint32_t* flags,
                      nghttp2_data_source* source, void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Sender& sender = *connection.sender;
    auto& stream = *static_cast<H2Stream*>(source->ptr);
    if (stream.send == H2Stream::Send::kDone) {  // a request for a tunnel that was declined has no body
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      return 0;
    }
    BodyPipe* pipe = stream.token == kNoToken ? nullptr : connection.events.pipeOf(stream.token);
    if (pipe == nullptr) return abandon(sender, stream, H2ErrorCode::kCancel);
    if (pipe->end() == PipeEnd::kBroken) {
      sender.failBody(stream);
      return NGHTTP2_ERR_DEFERRED;
    }
    if (stream.awaitsAgreement) return NGHTTP2_ERR_DEFERRED;
    if (sender.out_->size() >= sender.outLimit_) return NGHTTP2_ERR_PAUSE;
    const std::size_t count = std::min(length, pipe->bytes.size());
    const bool last = pipe->end() == PipeEnd::kComplete && count == pipe->bytes.size();
    if (count == 0 && !last) return NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (last) *flags |= NGHTTP2_DATA_FLAG_EOF;
    const bool trails = last && pipe->trailers() != nullptr && !pipe->trailers()->empty();
    if (trails && stream.method != Method::kConnect) {  // a tunnel has none (RFC 9113 section 8.5)
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      sender.submitTrailers(stream, *pipe->trailers());
    }
    return static_cast<ssize_t>(count);
  }

  static int sendData(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frameHead, std::size_t length,
                      nghttp2_data_source* source, void* userData) {
    H2Connection& connection = connectionOf(userData);
    H2Sender& sender = *connection.sender;
    const auto& stream = *static_cast<const H2Stream*>(source->ptr);
    sender.out_->append({reinterpret_cast<const char*>(frameHead), kFrameHead});
    if (length == 0) return 0;
    BodyPipe* pipe = connection.events.pipeOf(stream.token);
    sender.out_->splice(pipe->bytes, length);
    connection.events.bytesTaken(stream.token, length);
    return 0;
  }

  static int frameSent(nghttp2_session*, const nghttp2_frame* frame, void* userData) {
    H2Connection& connection = connectionOf(userData);
    const std::uint8_t type = frame->hd.type;
    if (type == NGHTTP2_RST_STREAM) return resetSent(*connection.sender, *frame);
    if (type != NGHTTP2_DATA && type != NGHTTP2_HEADERS) return 0;
    connection.countContent();
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!ends && connection.side == H2Side::kServer && type == NGHTTP2_DATA) return 0;
    H2Stream* stream = connection.find(static_cast<StreamId>(frame->hd.stream_id));
    if (stream == nullptr) return 0;
    if (!stream->rawLine.empty()) connection.sender->takeRawLine(*stream);
    if (stream->send == H2Stream::Send::kQueued) stream->send = H2Stream::Send::kOpen;
    if (ends && stream->send != H2Stream::Send::kDone) {
      stream->send = H2Stream::Send::kDone;
      connection.events.sendEnded(*stream);
    }
    return 0;
  }

  // A client that makes the server reset its streams is to be counted like one that resets them itself. STREAM_CLOSED
  // answers a client that has reset the stream, and was counted then.
  static int resetSent(H2Sender& sender, const nghttp2_frame& frame) {
    if (sender.connection_.side == H2Side::kClient) ++sender.resetsSent_;
    const std::uint32_t code = frame.rst_stream.error_code;
    const bool counted = code == NGHTTP2_REFUSED_STREAM || code == NGHTTP2_STREAM_CLOSED;
    if (sender.connection_.side != H2Side::kServer || counted) return 0;
    const H2Stream* stream = sender.connection_.find(static_cast<StreamId>(frame.hd.stream_id));
    const bool provoked = stream == nullptr || !stream->resetByUs || stream->violated || stream->overdrained;
    if (!provoked || sender.connection_.countReset()) return 0;
    return sender.connection_.fail(H2ErrorCode::kEnhanceYourCalm, Limit::kResetsPerMinute);
  }

  static int frameNotSent(nghttp2_session*, const nghttp2_frame* frame, int, void* userData) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat == NGHTTP2_HCAT_REQUEST) return 0;
    H2Connection& connection = connectionOf(userData);
    H2Sender& sender = *connection.sender;
    H2Stream* stream = connection.find(static_cast<StreamId>(frame->hd.stream_id));
    if (stream == nullptr || stream->resetByPeer) return 0;
    stream->failure = kBadLine;
    sender.submitReset(*stream, H2ErrorCode::kInternalError);
    return 0;
  }

  static nghttp2_data_provider providerOf(H2Stream& stream) {
    nghttp2_data_provider provider{};
    provider.source.ptr = &stream;
    provider.read_callback = read;
    return provider;
  }
};

void H2Sender::registerCallbacks(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_send_data_callback(callbacks, Sending::sendData);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Sending::frameSent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, Sending::frameNotSent);
}

int H2Sender::produce(base::ByteQueue& out, std::size_t limit) {
  out_ = &out;
  outLimit_ = limit;
  ssize_t size = 0;
  while (out.size() < limit) {
    const std::uint8_t* data = nullptr;
    size = nghttp2_session_mem_send(connection_.library, &data);
    if (size <= 0) break;
    const std::string_view frame(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    if (rawLine_.empty()) {
      out.append(frame);
    } else {
      appendWithLine(out, frame, rawLine_.bytes());
      rawLine_.clear();
    }
  }
  out_ = nullptr;
  return size < 0 ? static_cast<int>(size) : 0;
}

// nghttp2 writes the preface into the frame buffer when a client's session is made. That buffer is shared, and other
// sessions write before this one does: so the preface is taken out at once, and sent separately.
void H2Sender::takePreface() {
  const std::uint8_t* data = nullptr;
  if (nghttp2_session_mem_send(connection_.library, &data) != NGHTTP2_CLIENT_MAGIC_LEN) std::abort();
  prefacePending_ = true;
}

void H2Sender::writePreface(base::ByteQueue& out) {
  if (std::exchange(prefacePending_, false)) out.append({NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN});
}

bool H2Sender::hasOutput() const {
  return connection_.failed() ? connection_.owesGoodbye() : nghttp2_session_want_write(connection_.library) != 0;
}

// The frame (RFC 9113 section 6.8) is written here, because nghttp2 sends nothing after a failure. Frames leave
// whole, so this is a boundary.
void H2Sender::writeGoodbye(base::ByteQueue& out) {
  const std::optional<H2ErrorCode> goodbye = connection_.takeGoodbye();
  if (!goodbye) return;
  const auto last = static_cast<std::uint32_t>(nghttp2_session_get_last_proc_stream_id(connection_.library));
  const auto code = static_cast<std::uint32_t>(*goodbye);
  std::array<char, 17> frame{0, 0, 8, NGHTTP2_GOAWAY};
  for (std::size_t i = 0; i < 4; ++i) {
    frame[9 + i] = static_cast<char>(last >> (24 - 8 * i) & 0xff);
    frame[13 + i] = static_cast<char>(code >> (24 - 8 * i) & 0xff);
  }
  out.append({frame.data(), frame.size()});
}

// nghttp2 reports HEADERS when it hands out the frame that ends their block, and may close the stream before it returns
// that frame.
void H2Sender::takeRawLine(H2Stream& stream) {
  rawLine_ = stream.rawLine;
  stream.rawLine.clear();
}

void H2Sender::submitResponse(H2Stream& stream, std::span<const ControlLine> control, const Headers& fields,
                              Head kind) {
  LineList lines(control.size() + fields.size());
  lines.addControl(control, NGHTTP2_NV_FLAG_NONE);
  if (kind == Head::kInterim) ++stream.interims;
  // A block of an interim response that still waits would take the line of this one.
  const bool known = stream.interims == 0 ? lines.addFields(fields, stream.rawLine) : lines.addFields(fields);
  if (!known) {
    stream.failure = kBadLine;
    return submitReset(stream, H2ErrorCode::kInternalError);
  }
  const auto id = static_cast<std::int32_t>(stream.id);
  const nghttp2_data_provider provider = Sending::providerOf(stream);
  int status = 0;
  switch (kind) {
    case Head::kInterim:
      status = nghttp2_submit_headers(connection_.library, NGHTTP2_FLAG_NONE, id, nullptr, lines.data(), lines.size(),
                                      nullptr);
      break;
    case Head::kLast:
      status = nghttp2_submit_response(connection_.library, id, lines.data(), lines.size(), nullptr);
      break;
    case Head::kBeforeBody:
      status = nghttp2_submit_response(connection_.library, id, lines.data(), lines.size(), &provider);
      break;
  }
  if (status != 0) submitReset(stream, H2ErrorCode::kInternalError);
}

bool H2Sender::submitRequest(H2Stream& stream, std::span<const ControlLine> control, const RequestHead& head) {
  if (!isSendable(head, authority_)) return false;
  LineList lines(control.size() + head.headers.size());
  lines.addControl(control, head.secretControl ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE);
  if (!lines.addFields(head.headers, stream.rawLine)) return false;
  const nghttp2_data_provider provider = Sending::providerOf(stream);
  const std::int32_t id = nghttp2_submit_request(connection_.library, nullptr, lines.data(), lines.size(),
                                                 head.body != Body::kNone ? &provider : nullptr, nullptr);
  if (id < 0) return false;
  connection_.streams.name(stream, static_cast<StreamId>(id));
  connection_.history.open(stream.id);
  return true;
}

void H2Sender::submitTrailers(H2Stream& stream, const Headers& fields) {
  LineList lines(fields.size());
  const auto id = static_cast<std::int32_t>(stream.id);
  if (lines.addFields(fields) && nghttp2_submit_trailer(connection_.library, id, lines.data(), lines.size()) == 0)
    return;
  stream.failure = kBadLine;
  submitReset(stream, H2ErrorCode::kInternalError);
}

void H2Sender::endWithoutBody(H2Stream& stream) {
  stream.awaitsAgreement = false;
  stream.method = Method::kGet;
  stream.send = H2Stream::Send::kDone;
  nghttp2_session_resume_data(connection_.library, static_cast<std::int32_t>(stream.id));
}

void H2Sender::submitReset(H2Stream& stream, H2ErrorCode code) {
  if (stream.resetByUs || connection_.failed()) return;
  stream.resetByUs = true;
  nghttp2_submit_rst_stream(connection_.library, NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(stream.id),
                            static_cast<std::uint32_t>(code));
}

void H2Sender::resetViolated(H2Stream& stream) {
  stream.violated = true;
  submitReset(stream, H2ErrorCode::kProtocolError);
}

void H2Sender::reset(StreamId id, ResetReason reason) {
  if (connection_.closed()) return;
  H2Stream* stream = connection_.find(id);
  if (stream == nullptr) return;
  stream->detach();
  switch (reason) {
    case ResetReason::kCancelled:
      return submitReset(*stream, H2ErrorCode::kCancel);
    case ResetReason::kRefused:
      return submitReset(*stream, H2ErrorCode::kRefusedStream);
    case ResetReason::kFailed:
      return submitReset(*stream, H2ErrorCode::kInternalError);
  }
}

bool H2Sender::isBlocked(StreamId id) const {
  if (connection_.closed()) return false;
  return nghttp2_session_get_stream_remote_window_size(connection_.library, static_cast<std::int32_t>(id)) <= 0 ||
         nghttp2_session_get_remote_window_size(connection_.library) <= 0;
}

void H2Sender::failBody(H2Stream& stream) {
  stream.failure = kBrokenBody;
  submitReset(stream, connection_.side == H2Side::kServer ? H2ErrorCode::kInternalError : H2ErrorCode::kCancel);
}

void H2Sender::prioritize(const H2Stream& stream, std::string_view priority) {
  const H2Priority wanted = readPriority(priority);
  const nghttp2_extpri extpri{wanted.urgency, wanted.incremental ? 1 : 0};
  nghttp2_session_change_extpri_stream_priority(connection_.library, static_cast<std::int32_t>(stream.id), &extpri, 0);
}

void H2Sender::submitPing() { nghttp2_submit_ping(connection_.library, NGHTTP2_FLAG_NONE, nullptr); }

void H2Sender::submitGoaway(bool notice) {
  if (notice) {
    nghttp2_submit_shutdown_notice(connection_.library);
  } else {
    nghttp2_submit_goaway(connection_.library, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(connection_.library), NGHTTP2_NO_ERROR, nullptr, 0);
  }
}

void H2Sender::wake(StreamId id) {
  if (connection_.closed()) return;
  H2Stream* stream = connection_.find(id);
  if (stream == nullptr || stream->token == kNoToken) return;
  const BodyPipe* pipe = connection_.events.pipeOf(stream->token);
  if (pipe != nullptr && pipe->end() == PipeEnd::kBroken) return failBody(*stream);
  nghttp2_session_resume_data(connection_.library, static_cast<std::int32_t>(id));
}

}  // namespace sluice::http
