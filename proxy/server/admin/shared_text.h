// A page's text that is made again only when its version has changed, and is shared by all requests until then.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "proxy/server/admin/admin_page.h"

namespace sluice::server {

class SharedText {
 public:
  template <typename Make>
  AdminBody::Text of(std::string version, const Make& make) {
    if (text_ == nullptr || version != version_) text_ = std::make_shared<const std::string>(make());
    version_ = std::move(version);
    return text_;
  }

 private:
  std::string version_;
  AdminBody::Text text_;
};

}  // namespace sluice::server
