#include "proxy/http/h2/h2_windows.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>

#include "proxy/http/h2/h2_connection.h"

namespace sluice::http {

void grantStream(H2Connection& connection, StreamId id, std::size_t count) {
  if (connection.closed()) return;
  H2Stream* stream = connection.find(id);
  if (stream == nullptr) return;
  count = std::min(count, stream->ungranted);
  if (count == 0) return;
  stream->ungranted -= count;
  if (nghttp2_session_consume_stream(connection.library, static_cast<std::int32_t>(id), count) != 0) {
    connection.end(H2ErrorCode::kInternalError);
  }
}

void widenStream(H2Connection& connection, StreamId id) {
  if (connection.closed() || connection.find(id) == nullptr) return;
  const auto window = static_cast<std::int32_t>(connection.limits.streamWindow);
  if (nghttp2_session_set_local_window_size(connection.library, NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id),
                                            window) != 0) {
    connection.end(H2ErrorCode::kInternalError);
  }
}

}  // namespace sluice::http
