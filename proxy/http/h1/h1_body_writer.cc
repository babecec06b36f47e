#include "proxy/http/h1/h1_body_writer.h"

#include <algorithm>
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

H1BodyWriter::Status H1BodyWriter::write(BodyPipe& pipe, base::ByteQueue& out, std::size_t limit, std::size_t& taken) {
  taken = 0;
  if (pipe.end() == PipeEnd::kBroken) return Status::kBroken;
  if (framing_ == H1Framing::kLength && pipe.bytes.size() > remaining_) return Status::kBroken;
  const std::size_t room = limit > out.size() ? limit - out.size() : 0;
  const std::size_t size = std::min(pipe.bytes.size(), room);
  if (size > 0) {
    if (framing_ == H1Framing::kChunked) appendChunkSize(out, size);
    out.splice(pipe.bytes, size);
    if (framing_ == H1Framing::kChunked) out.append("\r\n");
    if (framing_ == H1Framing::kLength) remaining_ -= size;
    taken = size;
  }
  return pipe.drained() ? finish(pipe, out) : Status::kMore;
}

H1BodyWriter::Status H1BodyWriter::finish(const BodyPipe& pipe, base::ByteQueue& out) {
  if (framing_ == H1Framing::kLength && remaining_ > 0) return Status::kBroken;
  if (framing_ != H1Framing::kChunked) return Status::kDone;
  out.append("0\r\n");
  if (const Headers* trailers = pipe.trailers()) {
    for (const Field& field : *trailers) {
      if (!isFieldName(field.name) || !isFieldValue(field.value)) return Status::kBroken;
      out.append(field.name);
      out.append(": ");
      out.append(field.value);
      out.append("\r\n");
    }
  }
  out.append("\r\n");
  return Status::kDone;
}

}  // namespace sluice::http
