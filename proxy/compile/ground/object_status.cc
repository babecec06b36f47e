#include "proxy/compile/ground/object_status.h"

#include "config/read/object_kinds.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

// Bound of metav1.Condition.message. An API server refuses the whole status if one message is longer.
constexpr std::size_t kMaxMessage = 32768;
constexpr std::string_view kCut = "...";

std::string bounded(std::string message) {
  if (message.size() <= kMaxMessage) return message;
  std::size_t end = kMaxMessage - kCut.size();
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(message[at]) & 0xC0) == 0x80; };
  while (end > 0 && continues(end)) --end;
  return message.substr(0, end).append(kCut);
}

/// Returns the parts of the fault, as many as a message may hold.
std::vector<config::Finding> boundedFindings(const Fault& fault) {
  if (fault.parts.empty()) return {{fault.field, bounded(fault.message)}};
  std::vector<config::Finding> findings;
  std::size_t size = 0;
  for (const config::Finding& part : fault.parts) {
    size += part.text().size();
    if (size > kMaxMessage) break;
    findings.push_back(part);
  }
  return findings;
}

config::ObjectStatus emptyStatus(std::string_view group, std::string_view kind, std::string_view nameSpace,
                                 std::string_view name) {
  const config::ObjectKind& found = *config::findObjectKind(group, kind);
  config::ObjectStatus status;
  status.group = found.group;
  status.kind = found.kind;
  status.nameSpace = nameSpace;
  status.name = name;
  status.shape = *found.status;
  return status;
}

}  // namespace

Conditions& Conditions::set(std::string_view type, config::ConditionStatus status, const Fault& fault) {
  conditions_.push_back({std::string(type), status, fault.reason, bounded(fault.text()), generation_});
  config::Condition& added = conditions_.back();
  if (!fault.summary) added.findings = boundedFindings(fault);
  return *this;
}

Conditions& Conditions::check(std::string_view type, const std::optional<Fault>& fault,
                              const std::vector<config::Finding>& notes) {
  if (fault) return bad(type, *fault);
  if (notes.empty()) return good(type, type);
  std::vector<Fault> all;
  for (const config::Finding& note : notes) all.push_back(compile::fault(type, note.field, note.message));
  return set(type, config::ConditionStatus::kTrue, *joined(all));
}

std::optional<Fault> keptFault(const config::Model& model, const config::ObjectMeta& meta) {
  const config::Rejected* kept = model.findKept(meta.group, meta.kind, meta.nameSpace, meta.name);
  if (kept == nullptr) return std::nullopt;
  return keptFault(reason::kInvalid, {{}, kept->message});
}

Fault keptFault(std::string_view reason, const config::Finding& why) {
  return summary(reason, why.field, why.message + "; its previous valid version serves on");
}

std::optional<Fault> both(const std::optional<Fault>& first, const std::optional<Fault>& second) {
  if (!first || !second) return first ? first : second;
  return joined({*first, *second});
}

config::ObjectStatus statusOf(const config::ObjectMeta& meta) {
  config::ObjectStatus status = emptyStatus(meta.group, meta.kind, meta.nameSpace, meta.name);
  status.revision = meta.revision;
  status.servedRevision = meta.contentRevision;
  return status;
}

config::ObjectStatus statusOf(const config::Rejected& rejected) {
  config::ObjectStatus status = emptyStatus(rejected.group, rejected.kind, rejected.nameSpace, rejected.name);
  status.revision = rejected.revision;
  return status;
}

config::ObjectStatus rejectedStatus(const config::Rejected& rejected, std::string_view consequence) {
  config::ObjectStatus status = statusOf(rejected);
  if (status.shape != config::StatusShape::kGateway) status.shape = config::StatusShape::kConditions;
  std::string message = rejected.message;
  if (!consequence.empty()) message.append("; ").append(consequence);
  status.conditions = Conditions(rejected.generation)
                          .bad(condition_type::kAccepted, summary(reason::kInvalid, std::move(message)))
                          .take();
  return status;
}

}  // namespace sluice::compile
