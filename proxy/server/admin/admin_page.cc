#include "proxy/server/admin/admin_page.h"

#include <algorithm>
#include <string_view>

namespace sluice::server {

std::optional<std::size_t> AdminBody::length() const {
  if (text_ == nullptr) return std::nullopt;
  return text_->size();
}

bool AdminBody::read(base::ByteQueue& out, std::size_t most) {
  if (text_ != nullptr) {
    const std::size_t room = most > out.size() ? most - out.size() : 0;
    const std::string_view part = std::string_view(*text_).substr(taken_, room);
    out.append(part);
    taken_ += part.size();
    return taken_ < text_->size();
  }
  std::string piece;
  while (out.size() < most) {
    piece.clear();
    if (!pieces_(piece)) return false;
    out.append(piece);
  }
  return true;
}

std::size_t AdminBody::held() const {
  return text_ != nullptr ? text_->size() / static_cast<std::size_t>(text_.use_count()) : 0;
}

}  // namespace sluice::server
