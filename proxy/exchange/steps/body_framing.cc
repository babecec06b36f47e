#include "proxy/exchange/steps/body_framing.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice::exchange {

void finishPipe(http::BodyPipe& pipe, std::optional<http::Trailers> trailers) {
  if (trailers) return pipe.finish(*std::move(trailers));
  pipe.finish();
}

std::optional<http::Trailers> trailersOf(const http::BodyPipe& pipe) {
  if (pipe.trailers() == nullptr) return std::nullopt;
  http::Trailers copy(pipe.bytes.pool());
  copy.fields = pipe.trailers()->copy(copy.arena);
  return copy;
}

void removeDigests(http::Headers& headers) {
  for (const std::string_view name : {"content-md5", "content-digest", "repr-digest", "digest", "want-repr-digest"}) {
    headers.remove(name);
  }
}

void removeTwinsOf(const http::Headers& sent, http::Headers& trailers) {
  trailers.removeIf([&](const http::Field& trailer) {
    return std::any_of(sent.begin(), sent.end(),
                       [&](const http::Field& field) { return http::areTwins(trailer.name, field.name); });
  });
}

}  // namespace sluice::exchange
