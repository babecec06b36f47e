#include "proxy/control/compile/status/object_status.h"

namespace sluice::control {
namespace {

// metav1.Condition.message: an API server refuses the whole status over one that is longer.
constexpr std::size_t kMaxMessage = 32768;
constexpr std::string_view kCut = "...";

std::string bounded(std::string message) {
  if (message.size() <= kMaxMessage) return message;
  std::size_t end = kMaxMessage - kCut.size();
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(message[at]) & 0xC0) == 0x80; };
  while (end > 0 && continues(end)) --end;
  return message.substr(0, end).append(kCut);
}

}  // namespace

Conditions& Conditions::set(std::string_view type, config::ConditionStatus status, std::string_view reason,
                            std::string message) {
  conditions_.push_back({std::string(type), status, std::string(reason), bounded(std::move(message)), generation_});
  return *this;
}

Conditions& Conditions::check(std::string_view type, const std::optional<Fault>& fault, std::string message) {
  return fault ? bad(type, *fault) : good(type, type, std::move(message));
}

std::optional<Fault> keptFault(const config::Model& model, std::string_view group, std::string_view kind,
                               const config::ObjectMeta& meta) {
  const config::Rejected* kept = model.findKept(group, kind, meta.nameSpace, meta.name);
  if (kept == nullptr) return std::nullopt;
  return keptFault(config::reason::kInvalid, kept->message);
}

Fault keptFault(std::string_view reason, const std::string& message) {
  return {std::string(reason), message + "; its previous valid version serves on"};
}

std::optional<Fault> both(std::optional<Fault> first, const std::optional<Fault>& second) {
  if (!first || !second) return first ? first : second;
  return Fault{first->reason, joinMessages({*first, *second})};
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

}  // namespace sluice::control
