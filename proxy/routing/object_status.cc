#include "proxy/routing/object_status.h"

namespace sluice::routing {

Conditions& Conditions::set(std::string_view type, config::ConditionStatus status, std::string_view reason,
                            std::string message) {
  conditions_.push_back({std::string(type), status, std::string(reason), std::move(message), generation_});
  return *this;
}

Conditions& Conditions::check(std::string_view type, const std::optional<Fault>& fault, std::string message) {
  return fault ? bad(type, *fault) : good(type, type, std::move(message));
}

config::ObjectStatus statusOf(std::string_view group, std::string_view kind, std::string_view nameSpace,
                              std::string_view name, config::StatusShape shape) {
  config::ObjectStatus status;
  status.group = group;
  status.kind = kind;
  status.nameSpace = nameSpace;
  status.name = name;
  status.shape = shape;
  return status;
}

}  // namespace sluice::routing
