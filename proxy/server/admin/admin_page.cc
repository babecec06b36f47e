#include "proxy/server/admin/admin_page.h"

#include <algorithm>
#include <string_view>

namespace sluice::server {

std::optional<std::size_t> AdminBody::length() const {
  if (text_ == nullptr || place_ != nullptr) return std::nullopt;
  return text_->size();
}

AdminBody::BodyRest AdminBody::read(base::ByteQueue& out, std::size_t most) {
  if (place_ != nullptr) return readLive(out, most);
  if (text_ != nullptr) return readText(out, most) ? BodyRest::kMore : BodyRest::kNone;
  std::string piece;
  while (out.size() < most) {
    piece.clear();
    if (!pieces_(piece)) return BodyRest::kNone;
    out.append(piece);
  }
  return BodyRest::kMore;
}

bool AdminBody::readText(base::ByteQueue& out, std::size_t most) {
  const std::size_t room = most > out.size() ? most - out.size() : 0;
  const std::string_view part = std::string_view(*text_).substr(taken_, room);
  out.append(part);
  taken_ += part.size();
  return taken_ < text_->size();
}

AdminBody::BodyRest AdminBody::readLive(base::ByteQueue& out, std::size_t most) {
  for (;;) {
    if (text_ != nullptr && readText(out, most)) return BodyRest::kMore;
    taken_ = 0;
    text_ = place_->ended() ? nullptr : place_->next(read_);
    if (text_ == nullptr) return place_->ended() ? BodyRest::kNone : BodyRest::kLater;
  }
}

std::size_t AdminBody::held() const {
  return text_ != nullptr ? text_->size() / static_cast<std::size_t>(text_.use_count()) : 0;
}

}  // namespace sluice::server
