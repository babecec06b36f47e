#include "proxy/http/h1/h1_message_writer.h"

#include <charconv>
#include <string_view>

#include "proxy/http/hygiene.h"

namespace sluice::http {
namespace {

void appendChunkSize(base::ByteQueue& out, std::size_t size) {
  char text[20];
  char* end = std::to_chars(text, text + 18, size, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append({text, static_cast<std::size_t>(end - text)});
}

}  // namespace

std::size_t H1MessageWriter::write(BodyPipe& pipe, base::ByteQueue& out, std::size_t limit) {
  const bool tooMuch = framing_ == H1Framing::kLength && pipe.bytes.size() > remaining_;
  if (tooMuch || pipe.end() == PipeEnd::kBroken) {
    woken_ = !pipe.bytes.empty();
    state_ = State::kFailed;
    return 0;
  }
  const std::size_t size = pipe.movable(out, limit);
  if (size > 0) {
    if (framing_ == H1Framing::kChunked) appendChunkSize(out, size);
    out.splice(pipe.bytes, size);
    if (framing_ == H1Framing::kChunked) out.append("\r\n");
    if (framing_ == H1Framing::kLength) remaining_ -= size;
  }
  woken_ = !pipe.bytes.empty();
  if (pipe.drained()) state_ = endBody(pipe, out) ? State::kComplete : State::kFailed;
  return size;
}

bool H1MessageWriter::endBody(const BodyPipe& pipe, base::ByteQueue& out) {
  if (framing_ == H1Framing::kLength && remaining_ > 0) return false;
  if (framing_ != H1Framing::kChunked) return true;
  out.append("0\r\n");
  if (const Headers* trailers = pipe.trailers()) {
    for (const Field& field : *trailers) {
      if (!isFieldName(field.name) || !isFieldValue(field.value)) return false;
      out.append(field.receivedName());
      out.append(": ");
      out.append(field.value);
      out.append("\r\n");
    }
  }
  out.append("\r\n");
  return true;
}

}  // namespace sluice::http
