// The mirrored requests of one exchange: it tells them of the body and of its end, and asks nothing of them. The
// exchange owns it; Mirrors has the mirrors themselves.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/exchange/mirror/mirror.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

class RequestMirrors {
 public:
  RequestMirrors(Transaction& transaction, Processing& processing) : t_(transaction), processing_(processing) {}
  /// Without all of the request the mirrors go too.
  ~RequestMirrors() {
    if (!handles_.empty()) leave();
  }
  RequestMirrors(const RequestMirrors&) = delete;
  RequestMirrors& operator=(const RequestMirrors&) = delete;

  /// Starts those that the filters want, with what of the body has come.
  void start(const std::vector<routing::RequestMirror>& wanted);
  bool empty() const { return handles_.empty(); }
  void addBody(std::string_view bytes);
  /// The request's body has ended, with its pipe's trailers.
  void endBody();
  /// The client is gone.
  void cancel();

 private:
  void leave();
  template <typename Visit>
  void each(Visit&& visit);

  Transaction& t_;
  Processing& processing_;
  std::vector<base::Handle<Mirror>> handles_;
};

}  // namespace sluice::exchange
