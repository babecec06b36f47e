// The header field of the ids of requests, with what each request would have to look up about its name. A value.
#pragma once

#include <string>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

class RequestIdField {
 public:
  explicit RequestIdField(base::RequestIdSettings settings)
      : settings_(std::move(settings)), id_(http::fieldId(settings_.header)) {}

  /// Returns the name in lower case; empty if requests have no ids.
  const std::string& name() const { return settings_.header; }
  http::FieldId id() const { return id_; }
  /// Returns true if there is such a field.
  bool isIn(const http::Headers& headers) const {
    return (id_ != http::FieldId::kOther ? headers.find(id_) : headers.find(settings_.header)) != nullptr;
  }
  /// Returns true if the id that a client has sent is kept.
  bool accepts() const { return settings_.accept; }

 private:
  base::RequestIdSettings settings_;
  http::FieldId id_;
};

}  // namespace sluice::exchange
