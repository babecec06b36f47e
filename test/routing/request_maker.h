// Makes requests for tests of routing: a head and its memory.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"

namespace sluice::routing::test {

class RequestMaker {
 public:
  using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  RequestMaker(std::string_view method, std::string_view authority, std::string_view target, Fields fields = {})
      : message_(pool_) {
    message_.head.methodText = message_.arena.copy(method);
    message_.head.method = http::methodFrom(message_.head.methodText);
    message_.head.authority = message_.arena.copy(authority);
    message_.head.target = message_.arena.copy(target);
    for (const auto& [name, value] : fields) add(name, value);
  }

  void add(std::string_view name, std::string_view value) {
    message_.head.headers.add(message_.arena, message_.arena.copy(name), message_.arena.copy(value));
  }
  const http::RequestHead& head() const { return message_.head; }

 private:
  base::ChunkPool pool_;
  http::RequestMessage message_;
};

}  // namespace sluice::routing::test
