// All parts of an exchange, except for the two paths that move it. The exchange owns it; its parts know each other, so
// it does not move.
#pragma once

#include <utility>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/client_account.h"
#include "proxy/exchange/head_memory.h"
#include "proxy/exchange/mirror/request_mirrors.h"
#include "proxy/exchange/request_body.h"
#include "proxy/exchange/response_body.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

struct ExchangeState {
  ExchangeState(Exchange& exchange, base::Handle<Exchange> self, ExchangeContext& context, const ClientStream& client,
                http::RequestMessage&& request)
      : transaction(exchange, self, context, client, std::move(request)) {}
  ExchangeState(const ExchangeState&) = delete;
  ExchangeState& operator=(const ExchangeState&) = delete;

  Transaction transaction;
  HeadMemory headMemory{transaction};
  Attempts attempts{transaction};
  Processing processing{transaction, attempts};
  ClientAccount account{transaction, processing};
  RequestMirrors mirrors{transaction, processing};
  RequestBody requestBody{transaction, attempts, processing, account, mirrors};
  ResponseBody responseBody{transaction, attempts, processing, account};
};

}  // namespace sluice::exchange
