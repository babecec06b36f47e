// RequestMirrors passes the body of one exchange, and its end, to the mirrored requests, and expects nothing from them.
// The exchange owns it; Mirrors owns the mirrors themselves.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/exchange/mirror/mirror.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class RequestMirrors {
 public:
  RequestMirrors(Transaction& transaction, Processing& processing) : t_(transaction), processing_(processing) {}
  /// The mirrors are dropped unless all of the request has come.
  ~RequestMirrors() {
    if (!handles_.empty()) leave();
  }
  RequestMirrors(const RequestMirrors&) = delete;
  RequestMirrors& operator=(const RequestMirrors&) = delete;

  /// Starts the mirrors that the filters want, with as much of the body as has come.
  void start(const std::vector<routing::RequestMirror>& wanted);
  bool empty() const { return handles_.empty(); }
  void addBody(std::string_view bytes);
  /// Called when the request's body has ended. Its trailers are in its pipe.
  void endBody();
  /// Called when the client is gone.
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
