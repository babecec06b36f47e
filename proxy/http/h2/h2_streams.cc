#include "proxy/http/h2/h2_streams.h"

#include <nghttp2/nghttp2.h>

#include <memory>
#include <type_traits>

namespace sluice::http {

H2Streams::~H2Streams() {
  while (newest_ != nullptr) remove(*newest_);
}

H2Stream* H2Streams::lookUp(const nghttp2_session* library, StreamId id) const {
  if (id == 0) return nullptr;
  // nghttp2 takes a mutable session, but only reads it.
  auto* session = const_cast<nghttp2_session*>(library);
  const auto libraryId = static_cast<std::int32_t>(id);
  if (void* data = nghttp2_session_get_stream_user_data(session, libraryId)) return static_cast<H2Stream*>(data);
  // nghttp2 knows a request's stream only once its HEADERS are serialised; such streams are the newest ones.
  for (H2Stream* stream = newest_; stream != nullptr && stream->send == H2Stream::Send::kQueued;
       stream = stream->next) {
    if (stream->id == id) return stream;
  }
  return nullptr;
}

H2Stream& H2Streams::add(StreamId id) {
  static_assert(std::is_trivially_destructible_v<H2Stream>);
  auto* stream = std::construct_at(static_cast<H2Stream*>(memory_.allocate(sizeof(H2Stream))));
  stream->id = id;
  stream->next = newest_;
  if (newest_ != nullptr) newest_->previous = stream;
  newest_ = stream;
  ++count_;
  return *stream;
}

void H2Streams::remove(H2Stream& stream) {
  if (recent_ == &stream) recent_ = nullptr;
  (stream.previous != nullptr ? stream.previous->next : newest_) = stream.next;
  if (stream.next != nullptr) stream.next->previous = stream.previous;
  --count_;
  memory_.release(&stream);
}

}  // namespace sluice::http
