#include "proxy/http/codec.h"

namespace sluice::http {

Preface detectPreface(std::string_view firstBytes) {
  constexpr std::string_view kClientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  static_assert(kClientPreface.size() == 24);
  if (firstBytes.size() >= kClientPreface.size()) {
    return firstBytes.starts_with(kClientPreface) ? Preface::kHttp2 : Preface::kHttp1;
  }
  return kClientPreface.starts_with(firstBytes) ? Preface::kUndecided : Preface::kHttp1;
}

}  // namespace sluice::http
